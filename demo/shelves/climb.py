"""Shelves of climbing gear, ice and snow gear, and bike bags."""

from __future__ import annotations

from demo.shelf import Shelf

HARNESS = Shelf(
    key="harness",
    category="Climbing > Harnesses",
    title="{brand} {model} {Who} Climbing Harness",
    traits=("who", "use"),
    rows=(
        ("men", "sport", 380, 65),
        ("women", "sport", 360, 65),
        ("unisex", "alpine", 210, 79),
        ("kids", "sport", 310, 49),
        ("unisex", "via ferrata", 420, 59),
    ),
    opens=(
        "Hangs comfortably, which one only finds out when hanging.",
        "Wide webbing spreads the load, and the tie-in points are doubled.",
    ),
    says={
        "sport": ("Four gear loops and padding for long days at the crag.",),
        "alpine": ("Leg loops open, so it goes on over crampons and skis.",),
        "via ferrata": ("Adjusts to any size and goes well with a lanyard.",),
        "kids": ("For climbers from 15 kg.",),
    },
    closes=("{weight}.", "Certified to EN 12277.", "{color}."),
    asks=(
        ("climbing harness|harness|climbing harnesses", "", "A harness for climbing."),
        ("climbing harness women", "who=women", "A climbing harness in a woman's cut."),
        ("kids climbing harness", "who=kids", "A harness for a child."),
    ),
    near=("rope", "helmet"),
)

ROPE = Shelf(
    key="rope",
    category="Climbing > Ropes and Hardware",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("single rope 9.8 mm 60 m", 3800, 169),
        ("single rope 9.5 mm 70 m", 4200, 229),
        ("half rope 8.2 mm 60 m", 2600, 179),
        ("quickdraw set", 620, 89),
        ("locking carabiner", 75, 14),
        ("belay device", 85, 25),
        ("belay device", 190, 99),
        ("accessory cord 6 mm", 140, 9),
    ),
    opens=(
        "Trust is built into it, strand by strand and test by test.",
        "Runs smoothly through the hand and the gear.",
    ),
    says={
        "single rope 9.8 mm 60 m": ("A sturdy rope for the gym and the first outdoor seasons.",),
        "single rope 9.5 mm 70 m": ("Long and slim, with a dry treatment for alpine routes.",),
        "half rope 8.2 mm 60 m": ("Use two, for long routes and long abseils.",),
        "quickdraw set": ("Six draws with keylock gates.",),
        "locking carabiner": ("The sleeve turns by itself.",),
        "belay device": ("For single and double ropes.", "Brakes along when the belayer is distracted."),
        "accessory cord 6 mm": ("Five meters for prusiks and for hanging up wet things.",),
    },
    closes=("{weight}.", "Middle mark.", "Every piece is tested."),
    starts={
        "accessory cord 6 mm": "Thin cord for knots that hold other knots.",
        "quickdraw set": "Clips the bolt on the first try.",
    },
    asks=(
        (
            "climbing rope|rope|climbing ropes|dynamic rope",
            "kind=single_rope_9.8_mm_60_m/single_rope_9.5_mm_70_m/half_rope_8.2_mm_60_m",
            "A dynamic rope for climbing. Thin cord is not a climbing rope.",
        ),
        ("quickdraws|quickdraw set|quick draws", "kind=quickdraw_set", "Quickdraws for sport climbing."),
        (
            "carabiner|karabiner|carabiners",
            "kind=locking_carabiner/quickdraw_set",
            "Carabiners for climbing, single or as draws.",
        ),
        ("belay device", "kind=belay_device", "A device to belay with."),
        ("climbing rope 70m", "kind=single_rope_9.5_mm_70_m", "A climbing rope of seventy meters."),
    ),
    near=("harness",),
    colors=(),
)

HELMET = Shelf(
    key="helmet",
    category="Climbing > Helmets",
    title="{brand} {model} {Use} Helmet",
    traits=("use",),
    rows=(
        ("climbing", 290, 65),
        ("climbing", 210, 99),
        ("ski", 420, 129),
        ("bike", 310, 89),
        ("climbing", 340, 55),
        ("bike", 270, 119),
    ),
    opens=("A dial at the back fits it to any head, with or without a hat.", "Takes the knock so that you need not."),
    says={
        "climbing": ("A hard shell stops falling stones, and clips hold a lamp.",),
        "ski": ("Ear pads, vents that close, and a clip for goggles.",),
        "bike": ("Large vents and a small visor.",),
    },
    closes=("{weight}.", "{color}.", "54 to 61 cm."),
    asks=(
        ("climbing helmet|climbing helmets", "use=climbing", "A helmet for climbing and via ferrata."),
        ("helmet", "", "A helmet; for which sport was not said."),
        ("ski helmet", "use=ski", "A helmet for skiing."),
        ("bike helmet|bicycle helmet|cycle helmet", "use=bike", "A helmet for cycling."),
    ),
    near=("harness",),
)

ICE = Shelf(
    key="ice",
    category="Snow > Ice and Avalanche",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("crampons", 780, 149),
        ("crampons", 540, 169),
        ("trail spikes", 380, 49),
        ("ice axe", 420, 99),
        ("ice axe", 310, 129),
        ("avalanche beacon", 210, 329),
        ("avalanche shovel", 620, 69),
    ),
    opens=("For the season when the ground is not to be trusted.", "Tested in the glaciers' own country."),
    says={
        "crampons": (
            "Twelve points of steel and a binding that fits stiff boots.",
            "Aluminum for ski tours and spring snow; {weight} the pair.",
        ),
        "trail spikes": ("Chains that pull over any shoe on icy paths.",),
        "ice axe": ("A slightly bent shaft for steep snow, with a leash.",),
        "avalanche beacon": ("Three antennas, clear arrows, and a group check.",),
        "avalanche shovel": ("The blade is steel-hard aluminum and the handle telescopes.",),
    },
    closes=("With a protective cover.", "{weight}.", "Practice before you need it."),
    asks=(
        ("crampons|crampon|ice crampons", "kind=crampons", "Crampons for glacier and winter tours."),
        ("ice axe", "kind=ice_axe", "An axe for steep snow."),
        (
            "microspikes|shoe spikes|ice grips|ice cleats",
            "kind=trail_spikes",
            "Spikes to pull over shoes on icy paths.",
        ),
        ("avalanche transceiver|avalanche beacon", "kind=avalanche_beacon", "A transceiver for ski touring."),
        ("avalanche shovel|snow shovel", "kind=avalanche_shovel", "A shovel for the winter pack."),
    ),
    near=("snowshoes",),
    colors=(),
)

SNOWSHOES = Shelf(
    key="snowshoes",
    category="Snow > Snowshoes",
    title="{brand} {model} {Who} Snowshoes",
    traits=("who", "terrain"),
    rows=(
        ("women", "rolling", 1650, 189),
        ("men", "rolling", 1850, 189),
        ("unisex", "steep", 1980, 279),
        ("kids", "flat", 1050, 79),
        ("unisex", "flat", 1700, 129),
    ),
    opens=("Walk on what others sink into.", "A binding that closes with gloves on."),
    says={
        "flat": ("For forest tracks and frozen lakes.",),
        "rolling": ("A heel lift saves the calves on long slopes.",),
        "steep": ("Steel rails along both sides hold on traverses.",),
        "women": ("Narrower, for a natural stride.",),
    },
    closes=("Carries up to 110 kg.", "The pair weighs {weight}.", "{color}."),
    asks=(
        ("snowshoes|snow shoes|snowshoe", "", "Snowshoes for winter hikes."),
        ("snowshoes women", "who=women", "Snowshoes for a woman."),
        ("kids snowshoes", "who=kids", "Snowshoes for a child."),
    ),
    near=("ice", "gaiters"),
)

BIKE_BAG = Shelf(
    key="bike-bag",
    category="Bike > Bikepacking",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("pannier pair", 1800, 149),
        ("single pannier", 890, 79),
        ("handlebar bag", 420, 69),
        ("frame bag", 260, 59),
        ("saddle bag", 390, 89),
        ("bike light set", 120, 45),
    ),
    opens=("Clips on in a second and stays on over cobblestones.", "Roll-top, waterproof, and easy to wipe clean."),
    says={
        "pannier pair": ("Forty liters on both sides of the rack.",),
        "single pannier": ("Twenty liters, with a shoulder strap for the shop.",),
        "handlebar bag": ("The camera within reach.",),
        "frame bag": ("Uses the triangle that was empty before.",),
        "saddle bag": ("Fourteen liters behind the seat, and nothing sways.",),
        "bike light set": ("White in front, red behind, both charged by USB.",),
    },
    closes=("{color}.", "Fits tubes up to 16 mm.", "{weight}."),
    starts={"bike light set": "See the road, and be seen on it."},
    asks=(
        (
            "panniers|bike panniers|bike bags|bicycle bags",
            "kind=pannier_pair/single_pannier",
            "Bags for a bicycle's rack.",
        ),
        (
            "bikepacking bags|frame bag",
            "kind=frame_bag/saddle_bag/handlebar_bag",
            "Bags that strap to a bike without a rack.",
        ),
        ("bike lights", "kind=bike_light_set", "Lights for a bicycle."),
        ("handlebar bag", "kind=handlebar_bag", "A bag for the handlebar."),
    ),
    near=("dry-bag",),
)

SHELVES = (HARNESS, ROPE, HELMET, ICE, SNOWSHOES, BIKE_BAG)
