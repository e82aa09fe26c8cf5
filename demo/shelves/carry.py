"""Shelves of packs, bags, water bladders and trekking poles."""

from __future__ import annotations

from demo.shelf import Shelf

BACKPACK = Shelf(
    key="backpack",
    category="Packs > Hiking Backpacks",
    title="{brand} {model} {liters} {Who} Backpack",
    traits=("liters", "who"),
    rows=(
        ("40", "men", 1150, 139),
        ("45", "women", 1280, 149),
        ("50", "unisex", 890, 229),
        ("55", "men", 1720, 189),
        ("55", "women", 1650, 189),
        ("65", "men", 2050, 229),
        ("65", "women", 1980, 229),
        ("75", "unisex", 2400, 269),
        ("30", "kids", 820, 79),
    ),
    opens=(
        "A pack for hut tours and long trails whose belt carries the load where it belongs, on the hips.",
        "{liters} liters, one large opening at the front, and a back length that adjusts in half a minute.",
        "The {model} was drawn around the things that are always needed first: water, map, jacket.",
    ),
    says={
        "women": ("Shoulder straps and hip belt are shaped for women, and the back is two centimeters shorter.",),
        "men": ("Cut for longer backs and broader shoulders.",),
        "kids": ("Made for young hikers from eight to twelve, it grows with them by twelve centimeters.",),
        "unisex": (
            "The frame is a single bow of aluminum; the whole pack weighs {weight}.",
            "Fits backs from 42 to 53 cm.",
        ),
    },
    closes=(
        "The rain cover has its own pocket.",
        "Loops for poles and an ice axe.",
        "Room for a water bladder of three liters.",
        "Color: {color}.",
    ),
    asks=(
        (
            "backpack|rucksack|hiking backpack|backpacks|back pack",
            "",
            "A pack for hiking. Small daypacks are acceptable but not what is meant.",
        ),
        (
            "backpack women|womens hiking backpack|ladies rucksack",
            "who=women",
            "A hiking pack that fits a woman's back.",
        ),
        (
            "trekking backpack 65l|65 liter backpack|65l rucksack",
            "liters=65",
            "A large pack of about 65 liters for two weeks.",
        ),
        ("kids backpack|childrens rucksack", "who=kids", "A pack for a child of nine who walks with the family."),
        ("ultralight backpack 50l", "liters=50", "A light pack of around 50 liters for a long trail."),
        ("backpack 40l carry on", "liters=40", "A pack small enough for the cabin of a plane, about 40 liters."),
    ),
    near=("daypack", "duffel"),
    scales={"liters": ("30", "40", "45", "50", "55", "65", "75")},
    popular=2.6,
)

DAYPACK = Shelf(
    key="daypack",
    category="Packs > Daypacks",
    title="{brand} {model} {liters} Daypack",
    traits=("liters", "use"),
    rows=(
        ("12", "running", 280, 89),
        ("15", "cycling", 620, 79),
        ("18", "hiking", 540, 59),
        ("20", "hiking", 690, 75),
        ("22", "commuting", 910, 99),
        ("25", "hiking", 850, 95),
        ("28", "commuting", 1050, 119),
    ),
    opens=(
        "Enough room for a day: lunch, a layer, a book, and whatever the children hand you.",
        "The {model} holds {liters} liters and forgets that it is on your back.",
    ),
    says={
        "running": ("A vest cut stops it from bouncing, and two soft flasks sit in front.",),
        "cycling": ("It sits high enough to look over the shoulder on a bike and has a sling for the helmet.",),
        "hiking": (
            "A mesh back keeps the shirt dry on the climb.",
            "Trekking poles go on the outside without taking the pack off.",
        ),
        "commuting": ("A padded sleeve takes a laptop of 15 inches during the week.",),
    },
    closes=("{weight}.", "With a rain cover.", "Recycled nylon in {color}."),
    asks=(
        ("daypack|day pack|small backpack|hiking daypack", "", "A small pack for day trips."),
        (
            "running vest|running backpack|trail running vest",
            "use=running",
            "A vest-like pack for runners, with bottles in front.",
        ),
        ("20l backpack|20 liter daypack", "liters=20/18/22", "A small pack of about twenty liters."),
        ("laptop backpack|commuter backpack", "use=commuting", "A pack for work, with a sleeve for a computer."),
    ),
    near=("backpack",),
    scales={"liters": ("12", "15", "18", "20", "22", "25", "28")},
    popular=1.7,
)

DRY_BAG = Shelf(
    key="dry-bag",
    category="Packs > Dry Bags",
    title="{brand} {model} Dry Bag {liters} L",
    traits=("liters",),
    rows=(("5", 60, 15), ("10", 95, 19), ("20", 190, 29), ("35", 480, 45), ("13", 45, 32)),
    opens=(
        "Roll the top three times, clip it, and what is inside stays dry even in the river.",
        "Welded seams and a roll-top keep the water where it belongs.",
    ),
    says={
        "5": ("Right for a wallet, a phone and the car keys.",),
        "10": ("Holds a change of clothes.",),
        "20": ("A sleeping bag fits with room to spare.",),
        "35": ("Heavy tarpaulin for the deck of a canoe.",),
        "13": ("Thin as a leaf: {weight}, for use inside a pack.",),
    },
    closes=("In {color}, so that you find it.", "Clips to a deck line."),
    asks=(
        ("dry bag|drybag|waterproof bag|dry bags", "", "A waterproof bag for a boat or inside a pack."),
        ("dry bag 20l", "liters=20", "A dry bag of twenty liters."),
        ("waterproof stuff sack", "", "A light sack to keep a sleeping bag dry."),
    ),
    near=("duffel",),
    scales={"liters": ("5", "10", "13", "20", "35")},
)

DUFFEL = Shelf(
    key="duffel",
    category="Packs > Duffels and Travel",
    title="{brand} {model} {liters} L {Kind}",
    traits=("liters", "kind"),
    rows=(
        ("40", "duffel", 1100, 99),
        ("60", "duffel", 1350, 119),
        ("90", "duffel", 1650, 149),
        ("70", "wheeled duffel", 3400, 249),
        ("100", "wheeled duffel", 3900, 289),
    ),
    opens=(
        "Baggage handlers have tried their best; the {model} came out the other side.",
        "One big zip, one big space, and straps that turn it into a pack.",
    ),
    says={
        "duffel": ("Coated fabric as used for truck covers keeps rain and dust out.",),
        "wheeled duffel": ("Two large wheels and a handle that does not rattle.",),
    },
    closes=("Lockable zips.", "Folds flat into its own end pocket.", "{weight} empty."),
    asks=(
        ("duffel bag|duffle bag|travel bag|dufflebag", "", "A soft bag for travel and expeditions."),
        ("wheeled duffel|rolling duffel bag", "kind=wheeled_duffel", "A travel bag on wheels."),
        ("60l duffel", "liters=60", "A duffel of about sixty liters."),
    ),
    near=("backpack", "dry-bag"),
    scales={"liters": ("40", "60", "70", "90", "100")},
)

BLADDER = Shelf(
    key="bladder",
    category="Packs > Hydration",
    title="{brand} {model} Hydration Bladder {liters} L",
    traits=("liters",),
    rows=(("1.5", 140, 29), ("2", 160, 32), ("3", 190, 36), ("2", 150, 42)),
    opens=(
        "Drink without stopping: a soft reservoir with a hose and a bite valve.",
        "The wide slide opening lets a hand in for cleaning.",
    ),
    says={
        "1.5": ("One and a half liters fit the smallest packs.",),
        "2": ("Two liters last a day in the shade.",),
        "3": ("Three liters for dry country.",),
    },
    closes=("Tastes of nothing.", "The hose comes off with one click.", "Free of BPA."),
    asks=(
        (
            "hydration bladder|water bladder|drinking bladder|hydration pack bladder",
            "",
            "A water reservoir with a hose, to put in a pack.",
        ),
        ("water bladder 3l|3 liter hydration bladder", "liters=3", "A reservoir of three liters."),
    ),
    near=("bottle", "daypack"),
    colors=(),
)

POLES = Shelf(
    key="poles",
    category="Hiking > Trekking Poles",
    title="{brand} {model} {Material} Trekking Poles",
    traits=("material", "kind"),
    rows=(
        ("carbon", "folding", 360, 149),
        ("carbon", "telescopic", 410, 129),
        ("carbon", "folding", 310, 179),
        ("aluminum", "telescopic", 540, 69),
        ("aluminum", "folding", 490, 89),
        ("aluminum", "telescopic", 580, 45),
    ),
    opens=("Knees thank you on the way down.", "A pair of poles with cork grips that stay dry in the hand."),
    says={
        "carbon": ("Carbon tubes take the swing weight down to {weight} for the pair.",),
        "aluminum": ("Aluminum bends before it breaks, and can be bent back.",),
        "folding": ("They fold to 36 cm and go inside a pack.",),
        "telescopic": ("Three sections slide into each other and lock with a lever, from 65 to 135 cm.",),
    },
    closes=("Baskets for snow and for mud included.", "Sold as a pair.", "Rubber feet for roads."),
    asks=(
        (
            "trekking poles|hiking poles|walking poles|walking sticks|treking poles",
            "",
            "A pair of poles for walking in the mountains.",
        ),
        ("carbon trekking poles|light trekking poles", "material=carbon", "Poles of carbon, because weight matters."),
        (
            "folding trekking poles|foldable hiking poles",
            "kind=folding",
            "Poles that fold small enough to go in a suitcase.",
        ),
    ),
    colors=(),
    popular=1.6,
)

SHELVES = (BACKPACK, DAYPACK, DRY_BAG, DUFFEL, BLADDER, POLES)
