"""Shelves of stoves, pots, water filters, bottles and meals."""

from __future__ import annotations

from demo.shelf import Shelf

STOVE = Shelf(
    key="stove",
    category="Cooking > Stoves",
    title="{brand} {model} {Fuel} Stove",
    traits=("fuel", "kind"),
    rows=(
        ("gas", "burner", 85, 49),
        ("gas", "burner", 73, 69),
        ("gas", "system", 410, 129),
        ("gas", "two-burner", 4200, 149),
        ("alcohol", "burner", 110, 29),
        ("multi-fuel", "remote", 430, 179),
        ("wood", "folding", 560, 59),
        ("gas", "remote", 190, 99),
    ),
    opens=(
        "Half a liter of water boils while the tent is still being argued about.",
        "A stove is judged in the wind, and the {model} has a deep burner head.",
    ),
    says={
        "gas": ("Runs on screw-on gas canisters.",),
        "alcohol": ("Burns denatured alcohol without a sound.",),
        "multi-fuel": ("Takes white gas, kerosene and, if it must be, what the bus runs on.",),
        "wood": ("Twigs and cones are fuel enough, and the draft does the rest.",),
        "system": ("Pot and burner click together and lose no heat.",),
        "two-burner": ("Two flames with wind screens, for pasta here and sauce there.",),
        "remote": ("The hose keeps the flame low and the pot steady.",),
        "burner": ("Folded it fits in a fist and weighs {weight}.",),
        "folding": ("Packs flat.",),
    },
    closes=("With piezo igniter.", "Fuel not included.", "Output 2,600 watts."),
    asks=(
        ("camping stove|gas stove|camp stove|stove|camping stoves", "", "A stove to cook on outside."),
        (
            "ultralight stove|backpacking stove|lightweight gas stove",
            "fuel=gas kind=burner",
            "A tiny gas stove for a hiking pack.",
        ),
        ("multi fuel stove|petrol stove", "fuel=multi-fuel", "A stove that burns liquid fuels on expeditions."),
        ("wood stove camping|wood burning camp stove", "fuel=wood", "A stove that burns twigs."),
        ("two burner stove|2 burner camping stove", "kind=two-burner", "A family's stove with two flames."),
        ("alcohol stove|spirit burner", "fuel=alcohol", "A simple stove for alcohol."),
    ),
    near=("pot",),
    colors=(),
    popular=1.9,
)

POT = Shelf(
    key="pot",
    category="Cooking > Cookware",
    title="{brand} {model} {Material} {Kind}",
    traits=("material", "kind"),
    rows=(
        ("titanium", "pot", 120, 59),
        ("titanium", "mug", 65, 35),
        ("aluminum", "cook set", 480, 69),
        ("aluminum", "pot", 190, 29),
        ("steel", "cook set", 1250, 89),
        ("titanium", "cook set", 260, 119),
        ("aluminum", "frying pan", 260, 39),
        ("titanium", "spork", 16, 12),
    ),
    opens=("What the kitchen needs and not a gram more.", "Cooks, nests, and shines again after sand and water."),
    says={
        "titanium": ("Titanium never rusts and weighs next to nothing: {weight}.",),
        "aluminum": ("Anodized aluminum spreads the heat, so the porridge does not burn.",),
        "steel": ("Stainless steel stands open fire.",),
        "cook set": ("Two pots, a lid that is a pan, and two bowls nest in one another.",),
        "mug": ("Holds 450 ml and goes straight on the flame.",),
        "spork": ("Spoon in front, fork in front of that.",),
        "frying pan": ("Non-stick, with a folding handle.",),
    },
    closes=("Handles fold away.", "Stuff sack of mesh.", "Scale marks on the inside."),
    starts={
        "spork": "One piece of cutlery is enough.",
        "mug": "Coffee tastes better where no one makes it for you.",
        "frying pan": "For eggs, pancakes and the trout that did not get away.",
    },
    asks=(
        (
            "camping cookware|cook set|camping pots|mess kit|cooking set",
            "kind=cook_set/pot/frying_pan",
            "Pots for cooking outside, best as a set.",
        ),
        (
            "titanium pot|titanium cook set",
            "material=titanium kind=pot/cook_set",
            "A pot of titanium for a light pack.",
        ),
        ("camping mug|titanium mug", "kind=mug", "A mug for coffee outside."),
        ("spork|camping cutlery", "kind=spork", "Something to eat with."),
        ("camping frying pan", "kind=frying_pan", "A pan for eggs at the campsite."),
    ),
    near=("stove",),
    colors=(),
    popular=1.2,
)

FILTER = Shelf(
    key="filter",
    category="Cooking > Water Treatment",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("squeeze water filter", 75, 39),
        ("pump water filter", 310, 99),
        ("gravity water filter", 330, 119),
        ("filter bottle", 190, 49),
        ("purification tablets", 30, 12),
        ("UV purifier", 110, 109),
    ),
    opens=("Clear water can still make ill; this is against that.", "From stream to cup without a worry."),
    says={
        "squeeze water filter": (
            "Screw it on a soft bottle and press: hollow fibers hold back bacteria and protozoa.",
        ),
        "pump water filter": ("The ceramic element cleans with a cloth and lasts for 1,000 liters.",),
        "gravity water filter": ("Hang the upper bag in a tree and four liters run through while you rest.",),
        "filter bottle": ("Fill, close, drink through the filter in the cap.",),
        "purification tablets": ("One tablet treats a liter in thirty minutes and kills viruses too.",),
        "UV purifier": ("Ninety seconds of ultraviolet light deal with what filters let through.",),
    },
    closes=("Do not let it freeze.", "{weight}.", "Replacement parts available."),
    asks=(
        (
            "water filter|water filters|hiking water filter|water purifier",
            "",
            "A way to make stream water safe. Filters first; tablets are also an answer.",
        ),
        ("gravity water filter", "kind=gravity_water_filter", "A filter for a group, which works by hanging."),
        ("water purification tablets|water tablets", "kind=purification_tablets", "Tablets for making water safe."),
        ("filter bottle|water bottle with filter", "kind=filter_bottle", "A bottle with a filter in it."),
    ),
    near=("bottle",),
    colors=(),
    popular=1.5,
)

BOTTLE = Shelf(
    key="bottle",
    category="Cooking > Bottles and Flasks",
    title="{brand} {model} {Kind} {liters} L",
    traits=("kind", "liters"),
    rows=(
        ("insulated flask", "0.5", 320, 32),
        ("insulated flask", "0.75", 410, 39),
        ("insulated flask", "1.0", 530, 45),
        ("steel bottle", "0.75", 190, 25),
        ("steel bottle", "1.0", 230, 29),
        ("plastic bottle", "1.0", 150, 14),
        ("soft bottle", "0.5", 35, 19),
        ("plastic bottle", "0.75", 110, 12),
    ),
    opens=("Does not leak, does not drip, does not taste.", "The cap stays on a strap, so it is never in the river."),
    says={
        "insulated flask": (
            "Double walls with a vacuum between keep tea hot for twelve hours.",
            "A thermos for the summit: the tea still steams at sunset.",
        ),
        "steel bottle": ("One wall of stainless steel, without any coating.",),
        "plastic bottle": ("Hard plastic that survives a fall on rock; scale marks on the side.",),
        "soft bottle": ("Rolls up when empty and weighs {weight}.",),
    },
    closes=("Free of BPA.", "{color}.", "Fits every cup holder that we tried."),
    asks=(
        (
            "water bottle|drinking bottle|bottle|water botle",
            "kind=steel_bottle/plastic_bottle/soft_bottle",
            "A bottle for water. A thermos would work but is not meant.",
        ),
        (
            "thermos|insulated bottle|thermos flask|vacuum flask",
            "kind=insulated_flask",
            "A flask that keeps drinks hot.",
        ),
        ("thermos 1l|1 liter thermos", "kind=insulated_flask liters=1.0", "A thermos of one liter."),
        ("stainless steel water bottle", "kind=steel_bottle", "A bottle of steel without plastic."),
        ("soft flask|collapsible bottle", "kind=soft_bottle", "A bottle that rolls up when it is empty."),
    ),
    near=("bladder", "filter"),
    scales={"liters": ("0.5", "0.75", "1.0")},
    popular=1.8,
)

MEAL = Shelf(
    key="meal",
    category="Cooking > Trail Food",
    title="{brand} {model} {Dish}",
    traits=("dish", "diet"),
    rows=(
        ("pasta bolognese", "meat", 160, 9.9),
        ("vegetable curry", "vegan", 150, 9.5),
        ("chicken and rice", "meat", 165, 10.5),
        ("mushroom risotto", "vegetarian", 155, 9.9),
        ("lentil dal", "vegan", 150, 8.9),
        ("oatmeal with berries", "vegan", 90, 5.9),
        ("energy bar box", "vegetarian", 600, 24),
        ("beef jerky", "meat", 60, 7.5),
    ),
    opens=(
        "Add boiling water to the bag, wait eight minutes, and try not to look at the view with your mouth full.",
        "Cooked by people who hike, then dried by a machine that does not.",
    ),
    says={
        "meat": ("With meat from small farms.",),
        "vegan": ("Vegan, and hearty for all that.",),
        "vegetarian": ("Vegetarian.",),
        "energy bar box": ("Twenty-four bars of oats, dates and nuts.",),
        "beef jerky": ("Strips of dried beef with pepper, to chew while walking.",),
    },
    closes=("About 600 kcal a portion.", "Keeps for five years.", "May contain traces of nuts."),
    starts={
        "beef jerky": "For the long stretch between lunch and the hut.",
        "energy bar box": "Something for the pocket when the legs get heavy.",
        "oatmeal with berries": "Breakfast in the bag: hot water, three minutes, and out of the tent.",
    },
    asks=(
        (
            "freeze dried meals|dehydrated food|trekking meals|camping food|backpacking meals",
            "dish=pasta_bolognese/vegetable_curry/chicken_and_rice/mushroom_risotto/lentil_dal/oatmeal_with_berries",
            "Ready meals that need only hot water.",
        ),
        ("vegan camping food|vegan trekking meals", "diet=vegan", "Trail meals without animal products."),
        ("energy bars", "dish=energy_bar_box", "Bars to eat on the way."),
        ("beef jerky", "dish=beef_jerky", "Dried meat as a snack."),
        (
            "vegetarian backpacking meals",
            "diet=vegetarian/vegan",
            "Trail meals without meat; vegan ones are right too.",
        ),
    ),
    near=("stove",),
    colors=(),
)

SHELVES = (STOVE, POT, FILTER, BOTTLE, MEAL)
