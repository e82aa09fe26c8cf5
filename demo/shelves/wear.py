"""Shelves of clothing: jackets, fleeces, base layers, pants and gloves."""

from __future__ import annotations

from demo.shelf import Shelf

RAIN_JACKET = Shelf(
    key="rain-jacket",
    category="Clothing > Rain Jackets",
    title="{brand} {model} {Who} Rain Jacket",
    traits=("who", "kind"),
    rows=(
        ("women", "light", 240, 129),
        ("women", "three-layer", 420, 299),
        ("women", "insulated", 780, 219),
        ("men", "light", 270, 129),
        ("men", "three-layer", 460, 299),
        ("men", "three-layer", 510, 379),
        ("men", "insulated", 860, 219),
        ("kids", "light", 210, 59),
        ("kids", "insulated", 520, 89),
        ("unisex", "poncho", 330, 49),
    ),
    opens=(
        "Keeps the weather on the outside and lets the climb out through the zips under the arms.",
        "Taped seams, a hood that turns with the head, and cuffs that close over gloves.",
        "For days when the forecast says showers and means it: the {model} is waterproof to 20,000 mm.",
    ),
    says={
        "light": ("It folds into its own pocket and weighs {weight}, so it can always come along.",),
        "three-layer": (
            "A three-layer membrane breathes on long ascents and does not cling.",
            "Tough three-layer cloth stands up to rock and pack straps.",
        ),
        "insulated": ("A thin synthetic filling makes it a coat for wet, cold days in town too.",),
        "poncho": ("Wide enough to go over a pack, it doubles as a groundsheet.",),
        "women": ("Cut for women.",),
        "men": ("Men's cut with room for a fleece.",),
        "kids": ("Reflecting piping makes children visible on the way to school.",),
    },
    closes=("In {color}.", "Made without fluorocarbons.", "Re-proof it after ten washes."),
    asks=(
        (
            "rain jacket|raincoat|waterproof jacket|rain coat|rainjacket|rain jaket",
            "",
            "Wants to stay dry. Any waterproof jacket is right; a poncho will do, a fleece will not.",
        ),
        (
            "rain jacket women|womens rain jacket|ladies waterproof jacket|rain jacket womens",
            "who=women",
            "A waterproof jacket in a woman's cut.",
        ),
        ("rain jacket men|mens waterproof jacket|mens rain jacket", "who=men", "A waterproof jacket for a man."),
        ("kids rain jacket|childrens raincoat", "who=kids", "A raincoat for a child in the first school years."),
        ("lightweight rain jacket|packable rain jacket", "kind=light", "A thin waterproof that is always in the pack."),
        ("3 layer jacket|hardshell jacket", "kind=three-layer", "A tough three-layer shell for the mountains."),
        ("rain poncho", "kind=poncho", "A poncho that goes over the pack."),
        (
            "winter rain coat women warm",
            "who=women kind=insulated",
            "A waterproof coat for a woman that is warm as well.",
        ),
    ),
    near=("down-jacket", "rain-pants"),
    popular=3.0,
)

DOWN_JACKET = Shelf(
    key="down-jacket",
    category="Clothing > Insulated Jackets",
    title="{brand} {model} {Who} {Fill} Jacket",
    traits=("who", "fill"),
    rows=(
        ("women", "down", 340, 229),
        ("women", "synthetic", 390, 149),
        ("women", "down", 620, 329),
        ("men", "down", 360, 229),
        ("men", "synthetic", 410, 149),
        ("men", "down", 690, 349),
        ("kids", "synthetic", 320, 79),
        ("unisex", "down", 230, 199),
    ),
    opens=(
        "Warmth you can sit on: the {model} stuffs to the size of a melon.",
        "A puffy layer for breaks, bivouacs and bus stops.",
        "The first thing to put on at the summit.",
    ),
    says={
        "down": (
            "800 fill power down lies in small chambers so that it stays where it is.",
            "Responsibly sourced goose down warms at {weight}.",
        ),
        "synthetic": ("The fiber filling goes on warming when damp and dries overnight.",),
        "women": ("Women's cut, longer at the back.",),
        "kids": ("Sleeves that can be let out for a second winter.",),
    },
    closes=("Hem and hood draw tight with one hand.", "In {color}.", "Two pockets, one of which is the stuff sack."),
    asks=(
        (
            "down jacket|puffer jacket|down jackets|puffy jacket|donw jacket",
            "",
            "A warm quilted jacket; down is expected, a synthetic one would serve.",
        ),
        ("mens down jacket|down jacket men", "who=men fill=down", "A down jacket in a man's size."),
        ("womens down jacket|down jacket women", "who=women fill=down", "A down jacket for a woman."),
        ("winter jacket|warm jacket", "", "A jacket for cold weather."),
        ("synthetic insulated jacket|vegan winter jacket", "fill=synthetic", "A warm jacket without down."),
    ),
    near=("rain-jacket", "fleece"),
    popular=2.2,
)

FLEECE = Shelf(
    key="fleece",
    category="Clothing > Fleece",
    title="{brand} {model} {Who} {Kind}",
    traits=("who", "kind"),
    rows=(
        ("women", "fleece jacket", 360, 89),
        ("women", "fleece hoodie", 410, 99),
        ("men", "fleece jacket", 390, 89),
        ("men", "fleece hoodie", 450, 99),
        ("men", "fleece vest", 240, 69),
        ("women", "fleece vest", 220, 69),
        ("kids", "fleece jacket", 270, 39),
    ),
    opens=(
        "Soft inside, smooth outside, and dry an hour after the wash.",
        "The middle layer that is worn on most days of the year.",
    ),
    says={
        "fleece jacket": ("A full zip and two hand pockets.",),
        "fleece hoodie": ("The hood fits under a helmet.",),
        "fleece vest": ("No sleeves, so the arms stay free while the trunk stays warm.",),
        "kids": ("Tough enough for trees.",),
    },
    closes=("Half of it was bottles once.", "{color}.", "{weight} in size M."),
    asks=(
        ("fleece jacket|fleece|fleece jackets|flece jacket", "", "A fleece to wear on its own or under a shell."),
        ("fleece women|womens fleece jacket", "who=women", "A fleece for a woman."),
        ("fleece vest|fleece gilet", "kind=fleece_vest", "A fleece without sleeves."),
        ("kids fleece", "who=kids", "A fleece for a child."),
    ),
    near=("base-layer", "down-jacket"),
    popular=1.5,
)

BASE_LAYER = Shelf(
    key="base-layer",
    category="Clothing > Base Layers",
    title="{brand} {model} {Who} {Fabric} {Kind}",
    traits=("who", "fabric", "kind"),
    rows=(
        ("women", "merino", "long-sleeve shirt", 180, 79),
        ("women", "merino", "leggings", 170, 79),
        ("women", "synthetic", "t-shirt", 110, 35),
        ("men", "merino", "long-sleeve shirt", 200, 79),
        ("men", "merino", "t-shirt", 150, 65),
        ("men", "merino", "leggings", 190, 79),
        ("men", "synthetic", "long-sleeve shirt", 160, 45),
    ),
    opens=(
        "Next to the skin there should be nothing to feel.",
        "Flat seams, no label in the neck, and a hem that stays in the trousers.",
    ),
    says={
        "merino": ("Merino wool of 18.5 micron does not itch and does not smell after three days.",),
        "synthetic": ("Quick-drying polyester moves sweat outward as fast as you make it.",),
        "leggings": ("Long johns, if we are honest, and nobody has to know.",),
    },
    closes=("Machine wash at 30 degrees.", "{color}.", "Fabric weight 190 g per square meter."),
    asks=(
        (
            "merino base layer|merino wool base layer|merino shirt",
            "fabric=merino",
            "Wool underwear for hiking and skiing.",
        ),
        ("thermal underwear|long johns|base layer", "", "Warm underwear, shirt or leggings."),
        ("merino leggings women", "who=women fabric=merino kind=leggings", "Long merino underwear for a woman."),
        (
            "merino t-shirt men|merino tshirt",
            "who=men fabric=merino kind=t-shirt",
            "A short-sleeved merino shirt for a man.",
        ),
    ),
    near=("fleece", "socks"),
    popular=1.4,
)

PANTS = Shelf(
    key="pants",
    category="Clothing > Hiking Pants",
    title="{brand} {model} {Who} {Kind}",
    traits=("who", "kind"),
    rows=(
        ("women", "hiking pants", 310, 89),
        ("women", "zip-off pants", 340, 99),
        ("women", "softshell pants", 420, 129),
        ("men", "hiking pants", 340, 89),
        ("men", "zip-off pants", 370, 99),
        ("men", "softshell pants", 460, 129),
        ("men", "shorts", 210, 59),
        ("women", "shorts", 190, 59),
    ),
    opens=("Stretch where the leg bends, double cloth where it kneels.", "Trousers that do not look like a uniform."),
    says={
        "zip-off pants": ("Legs come off over the boots with a color-coded zip.",),
        "softshell pants": ("A brushed inside and a wind-tight front make them right for snow and shoulder season.",),
        "hiking pants": ("Thin, quick to dry, and with a pocket that closes for the map.",),
        "shorts": ("They end just above the knee.",),
    },
    closes=("{color}.", "Sizes in three lengths.", "Factor 50 against the sun."),
    asks=(
        (
            "hiking pants|hiking trousers|walking trousers|trekking pants",
            "kind=hiking_pants/zip-off_pants/softshell_pants",
            "Long trousers for hiking.",
        ),
        (
            "hiking pants women|womens walking trousers",
            "who=women kind=hiking_pants/zip-off_pants/softshell_pants",
            "Long hiking trousers for a woman.",
        ),
        ("zip off pants|convertible pants|zip off trousers", "kind=zip-off_pants", "Trousers that turn into shorts."),
        ("hiking shorts", "kind=shorts", "Short trousers for warm days."),
        ("softshell pants men", "who=men kind=softshell_pants", "Warm stretchy trousers for a man in winter."),
    ),
    near=("rain-pants",),
    popular=1.7,
)

RAIN_PANTS = Shelf(
    key="rain-pants",
    category="Clothing > Rain Pants",
    title="{brand} {model} {Who} Rain Pants",
    traits=("who",),
    rows=(("women", 290, 99), ("men", 310, 99), ("unisex", 230, 69), ("kids", 190, 39)),
    opens=(
        "Go on over the boots, thanks to a zip along the whole leg.",
        "Waterproof overtrousers for the ride to work and the wet side of the hill.",
    ),
    says={
        "kids": ("With braces and a loop under the foot, for puddles.",),
        "women": ("Women's cut.",),
        "unisex": ("So thin that they live at the bottom of the pack.",),
    },
    closes=("{weight}.", "Seams are taped.", "Black, so mud is a matter between you and the trail."),
    asks=(
        ("rain pants|waterproof trousers|rain trousers|overtrousers", "", "Waterproof trousers to put on over others."),
        ("rain pants women", "who=women", "Waterproof trousers for a woman."),
    ),
    near=("rain-jacket", "pants"),
    colors=(),
)

GLOVES = Shelf(
    key="gloves",
    category="Clothing > Gloves and Hats",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("liner gloves", 45, 25),
        ("waterproof gloves", 160, 79),
        ("winter mittens", 220, 99),
        ("touchscreen gloves", 60, 32),
        ("wool beanie", 70, 29),
        ("wool beanie", 80, 35),
        ("sun hat", 90, 39),
        ("sun hat", 75, 45),
    ),
    opens=(
        "A third of the comfort at a tenth of the weight.",
        "Small things that are always missed when left at home.",
    ),
    says={
        "liner gloves": ("Thin enough to tie a knot in, warm enough to wait for the bus.",),
        "waterproof gloves": ("A membrane keeps rain and slush out, leather palms keep hold.",),
        "winter mittens": ("Fingers together keep each other warm down to minus twenty.",),
        "touchscreen gloves": ("Thumb and two fingers work a phone.",),
        "wool beanie": ("Knitted from merino, long enough for the ears.",),
        "sun hat": ("A wide brim, a chin cord, and cloth with sun protection factor 50.",),
    },
    closes=("{color}.", "One size fits nearly all.", "{weight}."),
    starts={"sun hat": "Shade that walks along.", "wool beanie": "Warm ears make a warm evening."},
    asks=(
        (
            "gloves|winter gloves|warm gloves",
            "kind=liner_gloves/waterproof_gloves/winter_mittens/touchscreen_gloves",
            "Something warm for the hands.",
        ),
        ("waterproof gloves", "kind=waterproof_gloves", "Gloves that keep rain and snow out."),
        ("beanie|wool hat|merino beanie", "kind=wool_beanie", "A knitted hat for cold days."),
        ("sun hat|hiking hat|sunhat", "kind=sun_hat", "A hat with a brim against the sun."),
    ),
    popular=1.3,
)

SHELVES = (RAIN_JACKET, DOWN_JACKET, FLEECE, BASE_LAYER, PANTS, RAIN_PANTS, GLOVES)
