"""Shelves of camping gear: tents, sleeping bags and pads, hammocks, tarps and chairs."""

from __future__ import annotations

from demo.shelf import Shelf

TENT = Shelf(
    key="tent",
    category="Camping > Tents",
    title="{brand} {model} {persons} {Kind} Tent",
    traits=("persons", "kind"),
    rows=(
        ("1", "ultralight", 890, 329),
        ("2", "ultralight", 1240, 429),
        ("2", "ultralight", 1390, 359),
        ("1", "three-season", 1650, 149),
        ("2", "three-season", 2150, 219),
        ("3", "three-season", 2780, 259),
        ("2", "four-season", 3100, 549),
        ("3", "four-season", 3900, 629),
        ("4", "family", 6900, 299),
        ("6", "family", 11800, 449),
    ),
    opens=(
        "The {model} sleeps {persons} and stands in about four minutes, even when the wind does not want it to.",
        "One door, and in front of it a porch that swallows the boots and packs of {persons}.",
        "A {persons}-person shelter that pitches fly first, so the inner stays dry in the rain.",
    ),
    says={
        "ultralight": (
            "At {weight} with pegs it disappears in a pack; the silnylon fly is thin, so mind the gravel.",
            "Every gram was argued about: carbon poles, one zip, and {weight} on the scale.",
        ),
        "three-season": (
            "Mesh panels keep the summer air moving, and the fly holds back 3,000 mm of water from March to October.",
            "Made for spring, summer and autumn, with color-coded aluminum poles that nobody can put in wrongly.",
        ),
        "four-season": (
            "Five crossing poles and a snow valance let it stand through a winter storm above the tree line.",
            "Built for expeditions: the fabric sheds snow, the guy lines are doubled, and nothing flaps.",
        ),
        "family": (
            "Grown-ups can stand upright, the bedroom is dark until eight, and a curtain parts it in two.",
            "There is a living room large enough for a table on a wet afternoon, and room for the dog.",
        ),
    },
    closes=(
        "Pegs, guy lines and a repair sleeve are included.",
        "Packed size 48 x 16 cm.",
        "Fly in {color}.",
        "A footprint is sold separately.",
    ),
    asks=(
        (
            "tent|tents|camping tent",
            "",
            "Looking for a tent, the size is open. Any tent to sleep in is right; tarps and hammocks are not tents.",
        ),
        (
            "2 person tent|two person tent|2 man tent|tent 2 persons",
            "persons=2",
            "A couple needs a tent that sleeps exactly two. A three-person tent would do at a pinch.",
        ),
        (
            "ultralight tent|lightweight tent|ultra light tent|lightest tent",
            "kind=ultralight",
            "A long-distance hiker wants the lightest tent to carry. Weight is what counts.",
        ),
        (
            "ultralight tent 2 person",
            "persons=2 kind=ultralight",
            "Two walkers look for one tent to carry for a week. It must sleep two, and weight counts most.",
        ),
        (
            "family tent|big tent|family tnet",
            "kind=family",
            "Parents with children want a roomy tent for a campsite. Weight does not matter.",
        ),
        (
            "4 season tent|winter tent",
            "kind=four-season",
            "Camping in snow and storm. A summer tent would be dangerous.",
        ),
        ("one person tent|1 man tent|solo tent", "persons=1", "Somebody who walks alone needs a tent for one."),
    ),
    near=("tarp", "hammock"),
    scales={"persons": ("1", "2", "3", "4", "6")},
    popular=3.0,
)

SLEEPING_BAG = Shelf(
    key="sleeping-bag",
    category="Camping > Sleeping Bags",
    title="{brand} {model} {Fill} Sleeping Bag {comfort}°C",
    traits=("fill", "comfort"),
    rows=(
        ("down", "5", 680, 249),
        ("down", "0", 860, 319),
        ("down", "-7", 1120, 399),
        ("down", "-15", 1480, 529),
        ("synthetic", "10", 890, 69),
        ("synthetic", "5", 1150, 89),
        ("synthetic", "0", 1540, 119),
        ("synthetic", "-7", 1980, 149),
    ),
    opens=(
        "A mummy bag that keeps an average sleeper warm down to {comfort} degrees Celsius.",
        "The {model} is cut a little wider at the knees, for people who do not sleep like a pencil.",
        "Comfort limit {comfort} °C, tested to the standard and not to our hopes.",
    ),
    says={
        "down": (
            "Filled with 750 fill power duck down that was treated against damp, it packs to the size of a loaf.",
            "Goose down in trapezoid chambers leaves no cold seams, and the whole thing weighs {weight}.",
        ),
        "synthetic": (
            "The hollow fiber filling still warms when wet and goes into the washing machine.",
            "Polyester insulation shrugs off condensation; at {weight} it is the one to lend to friends.",
        ),
    },
    closes=(
        "The zip runs free of the lining.",
        "Comes with a storage sack and a compression bag.",
        "Left and right zips can be joined.",
        "Inner pocket for a phone.",
    ),
    asks=(
        (
            "sleeping bag|sleeping bags|sleepingbag|sleeping bag adult",
            "",
            "Needs a sleeping bag, has not said for which season.",
        ),
        (
            "down sleeping bag|goose down sleeping bag",
            "fill=down",
            "Wants down for warmth and small packing. Synthetic filling is not what is meant.",
        ),
        (
            "winter sleeping bag|sleeping bag winter|warm sleeping bag",
            "comfort=-7/-15",
            "Sleeping outside in frost. The comfort limit should be well below zero.",
        ),
        ("summer sleeping bag", "comfort=10/5", "Warm nights in a hut or on a campsite. Something thin is enough."),
        (
            "synthetic sleeping bag washable|vegan sleeping bag",
            "fill=synthetic",
            "A bag without down that can be washed at home.",
        ),
    ),
    near=("sleeping-pad",),
    scales={"comfort": ("10", "5", "0", "-7", "-15")},
    popular=2.4,
)

SLEEPING_PAD = Shelf(
    key="sleeping-pad",
    category="Camping > Sleeping Pads",
    title="{brand} {model} {Kind} Sleeping Pad",
    traits=("kind", "warmth"),
    rows=(
        ("inflatable", "summer", 380, 99),
        ("inflatable", "all-year", 520, 169),
        ("inflatable", "winter", 640, 219),
        ("self-inflating", "summer", 720, 59),
        ("self-inflating", "all-year", 1180, 89),
        ("foam", "summer", 410, 29),
        ("foam", "all-year", 460, 45),
    ),
    opens=(
        "What lies under you decides the night, and the {model} is kind to hips and shoulders.",
        "A mat that takes the stones out of the ground.",
    ),
    says={
        "inflatable": (
            "Air cells eight centimeters high roll up to the size of a water bottle.",
            "A pump sack fills it in ten breaths' worth of patience.",
        ),
        "self-inflating": ("Open the valve and the foam core draws in its own air while you boil water.",),
        "foam": (
            "Closed-cell foam cannot be punctured and folds like an accordion on the outside of a pack.",
            "Nothing to blow up and nothing to break.",
        ),
        "summer": ("The R-value of 1.6 is enough for warm ground.",),
        "all-year": ("With an R-value of 3.7 it serves from snowmelt to first frost.",),
        "winter": ("A reflecting layer brings the R-value to 6.2, so it can lie on snow.",),
    },
    closes=("Weighs {weight}.", "183 x 51 cm.", "Repair patches in the bag."),
    asks=(
        ("sleeping pad|sleeping mat|camping mattress|sleepingpad", "", "Wants something soft to lie on in a tent."),
        ("inflatable sleeping pad|air mattress camping", "kind=inflatable", "A pad that is blown up and packs small."),
        ("foam mat|foam sleeping pad", "kind=foam", "A simple closed-cell mat that cannot break."),
        (
            "winter sleeping pad|insulated sleeping mat",
            "warmth=winter",
            "A pad to put on snow; insulation is the point.",
        ),
        ("self inflating mat|self inflating camping mat", "kind=self-inflating", "A mat that fills itself with air."),
    ),
    near=("sleeping-bag",),
    scales={"warmth": ("summer", "all-year", "winter")},
    popular=1.6,
)

HAMMOCK = Shelf(
    key="hammock",
    category="Camping > Hammocks",
    title="{brand} {model} {Kind} Hammock",
    traits=("kind",),
    rows=(
        ("single", 410, 39),
        ("single", 320, 59),
        ("double", 560, 49),
        ("double", 690, 79),
        ("mosquito-net", 880, 109),
        ("mosquito-net", 760, 139),
    ),
    opens=(
        "Two trees, four meters apart, and the {model} is a bed.",
        "Parachute nylon that dries in minutes and holds 180 kg.",
    ),
    says={
        "single": ("Cut for one, it stuffs into its own pocket.",),
        "double": ("Wide enough for two, or for one who likes to lie across.",),
        "mosquito-net": (
            "A zipped net keeps the midges out and a ridge line keeps it off your nose.",
            "The bug net comes off when the nights turn cold.",
        ),
    },
    closes=("Tree straps are included.", "Carabiners included, tree straps sold separately.", "{weight} in {color}."),
    asks=(
        ("hammock|hammocks|hamock", "", "Wants a hammock for the woods or the garden."),
        (
            "hammock with mosquito net|bug net hammock",
            "kind=mosquito-net",
            "Sleeping outside in summer, with insects about. The net is the point.",
        ),
        ("double hammock|hammock for two", "kind=double", "A hammock for two people."),
    ),
    near=("tarp", "tent"),
)

TARP = Shelf(
    key="tarp",
    category="Camping > Tarps and Shelters",
    title="{brand} {model} Tarp {size}",
    traits=("size",),
    rows=(("3x3m", 640, 69), ("3x4m", 890, 89), ("3x3m", 480, 149), ("4x4m", 1350, 109), ("2x3m", 360, 129)),
    opens=(
        "A square of weatherproof cloth with sixteen loops and a hundred ways to hang it.",
        "The {model} turns a clearing into a kitchen with a roof.",
    ),
    says={
        "2x3m": ("Small and only {weight}, it is a roof for one and a hammock.",),
        "3x3m": ("Three meters by three cover two sleepers and their gear.",),
        "3x4m": ("Three by four meters shelter a table and six chairs.",),
        "4x4m": ("The large one, for groups: four meters on every side.",),
    },
    closes=("Waterproof to 3,000 mm.", "Guy lines that shine in the beam of a lamp.", "Poles are not included."),
    asks=(
        ("tarp|camping tarp|tarps", "", "A sheet to put up against rain and sun."),
        ("tarp 3x3|3x3m tarp", "size=3x3m", "A tarp of three by three meters; the size matters."),
        ("rain shelter camping|awning", "", "A roof over the kitchen of a camp."),
    ),
    near=("tent", "hammock"),
    scales={"size": ("2x3m", "3x3m", "3x4m", "4x4m")},
)

CHAIR = Shelf(
    key="chair",
    category="Camping > Camp Furniture",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("folding chair", 3200, 49),
        ("folding chair", 4100, 79),
        ("packable chair", 960, 109),
        ("packable chair", 850, 139),
        ("stool", 520, 29),
        ("folding table", 2900, 69),
        ("folding table", 1400, 99),
    ),
    opens=(
        "Sit down: the {model} has carried heavier people than you.",
        "The {model} makes any patch of grass a veranda.",
    ),
    says={
        "folding chair": ("Opens in one pull, with a cup holder where the hand falls.",),
        "packable chair": (
            "Shock-corded poles click together and the seat stretches over them; {weight} goes into any pack.",
        ),
        "stool": ("Three legs stand on any ground.",),
        "folding table": ("The top rolls up, the legs fold, and four people can eat at it.",),
    },
    closes=("Holds 120 kg.", "Carry bag included.", "Available in {color}."),
    starts={
        "folding table": "Breakfast deserves better than a flat stone.",
        "stool": "A seat for anglers, photographers and everybody who waits.",
    },
    asks=(
        (
            "camping chair|camp chair|folding chair|camping chairs",
            "kind=folding_chair/packable_chair",
            "A seat for the campsite. Stools and tables are something else.",
        ),
        ("lightweight camping chair|packable chair", "kind=packable_chair", "A chair small enough to take on a hike."),
        ("camping table|folding table", "kind=folding_table", "A table that folds for the car."),
    ),
    popular=1.4,
)

SHELVES = (TENT, SLEEPING_BAG, SLEEPING_PAD, HAMMOCK, TARP, CHAIR)
