"""Shelves of lights, power, navigation, knives and first aid."""

from __future__ import annotations

from demo.shelf import Shelf

HEADLAMP = Shelf(
    key="headlamp",
    category="Tools > Headlamps",
    title="{brand} {model} {lumens} Lumen {Power} Headlamp",
    traits=("lumens", "power"),
    rows=(
        ("200", "battery", 86, 29),
        ("300", "battery", 92, 39),
        ("350", "rechargeable", 78, 59),
        ("450", "rechargeable", 95, 79),
        ("600", "rechargeable", 130, 99),
        ("1100", "rechargeable", 240, 169),
        ("200", "rechargeable", 35, 49),
    ),
    opens=(
        "Both hands free, and {lumens} lumens on what they do.",
        "One button, three levels of light, and a red one that does not wake the hut.",
    ),
    says={
        "battery": ("Three AAA cells can be bought in any village.",),
        "rechargeable": ("Charges by USB-C in two hours.",),
        "1100": ("Bright enough to run a night race by.",),
        "200": ("Plenty for camp and path.",),
        "600": ("The beam reaches 120 meters.",),
    },
    closes=(
        "{weight} with the strap.",
        "Protected against rain (IPX4).",
        "A lock keeps it from lighting up in the pack.",
    ),
    asks=(
        ("headlamp|head torch|headtorch|head lamp|headlamps|head light", "", "A lamp to wear on the head."),
        ("rechargeable headlamp|usb head torch", "power=rechargeable", "A headlamp that charges from a cable."),
        ("running headlamp|bright head torch", "lumens=450/600/1100", "A bright lamp for running at night."),
        ("headlamp aaa batteries", "power=battery", "A headlamp that takes ordinary batteries."),
    ),
    near=("lantern",),
    scales={"lumens": ("200", "300", "350", "450", "600", "1100")},
    colors=(),
    popular=1.9,
)

LANTERN = Shelf(
    key="lantern",
    category="Tools > Lanterns and Flashlights",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("camping lantern", 320, 39),
        ("camping lantern", 190, 49),
        ("solar lantern", 130, 35),
        ("flashlight", 110, 45),
        ("flashlight", 75, 59),
        ("string lights", 180, 29),
    ),
    opens=("Makes a room out of the dark.", "Warm light for cards, soup and stories."),
    says={
        "camping lantern": ("Hangs in a tent, stands on a table, dims to a night light for children.",),
        "solar lantern": ("Charges in the sun on top of a pack and floats if it falls in.",),
        "flashlight": ("A narrow beam reaches the other shore.",),
        "string lights": ("Ten meters of small bulbs for the awning.",),
    },
    closes=("Runs 40 hours on the lowest level.", "{weight}.", "USB cable included."),
    starts={"flashlight": "Point it at what made that noise."},
    asks=(
        (
            "camping lantern|camping light|tent light|lantern",
            "kind=camping_lantern/solar_lantern",
            "A light to hang in a tent or stand on a table.",
        ),
        ("flashlight|torch|flash light", "kind=flashlight", "A light to hold in the hand."),
        ("solar camping light|solar lantern", "kind=solar_lantern", "A lantern that charges in the sun."),
    ),
    near=("headlamp",),
    colors=(),
)

POWER = Shelf(
    key="power",
    category="Tools > Power",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("power bank 10,000 mAh", 190, 39),
        ("power bank 20,000 mAh", 340, 59),
        ("solar panel 10 W", 310, 79),
        ("solar panel 21 W", 560, 119),
        ("solar power bank", 290, 69),
    ),
    opens=("Phone, lamp and camera live longer with it.", "Power far from the wall."),
    says={
        "power bank 10,000 mAh": ("Charges a phone twice.",),
        "power bank 20,000 mAh": ("Lasts a week of maps and photographs.",),
        "solar panel 10 W": ("Folds to the size of a book and clips to a pack.",),
        "solar panel 21 W": ("Three panels fill a phone in a sunny morning.",),
        "solar power bank": ("A small cell on the lid tops it up in emergencies; do not expect miracles.",),
    },
    closes=("USB-C in and out.", "Splash-proof.", "{weight}."),
    asks=(
        (
            "power bank|powerbank|portable charger",
            "kind=power_bank_10,000_mAh/power_bank_20,000_mAh/solar_power_bank",
            "A battery to charge a phone from.",
        ),
        (
            "solar panel camping|portable solar panel|solar charger",
            "kind=solar_panel_10_W/solar_panel_21_W",
            "A folding panel that charges in the sun.",
        ),
        ("power bank 20000mah", "kind=power_bank_20,000_mAh", "A large power bank."),
    ),
    near=("lantern",),
    colors=(),
)

COMPASS = Shelf(
    key="compass",
    category="Tools > Navigation",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("baseplate compass", 45, 29),
        ("mirror compass", 75, 69),
        ("handheld GPS", 210, 349),
        ("GPS watch", 60, 299),
        ("satellite messenger", 100, 349),
        ("map case", 90, 25),
    ),
    opens=("Finds north when everything else is fog.", "For those who like to know where they are."),
    says={
        "baseplate compass": ("Clear plate with scales for 1:25,000 and 1:50,000.",),
        "mirror compass": ("The mirror sights and, in the morning, shaves.",),
        "handheld GPS": ("Topographic maps, buttons that work with gloves, and 40 hours on two batteries.",),
        "GPS watch": ("Altitude, route and pulse on the wrist.",),
        "satellite messenger": ("Sends a message or a call for help where no phone does.",),
        "map case": ("Waterproof, and clear on both sides.",),
    },
    closes=("With a neck cord.", "{weight}.", "Manual in eleven languages."),
    starts={
        "map case": "Paper does not run out of battery, but it does get wet.",
        "satellite messenger": "For places where nobody would hear a shout.",
        "GPS watch": "Wear it to work and follow it home over the hills.",
    },
    asks=(
        ("compass|hiking compass|map compass", "kind=baseplate_compass/mirror_compass", "A compass for map reading."),
        (
            "gps|handheld gps|hiking gps",
            "kind=handheld_GPS/GPS_watch",
            "A device that shows the position on a map; a watch may do.",
        ),
        ("gps watch|hiking watch", "kind=GPS_watch", "A watch with GPS for hiking."),
        (
            "satellite messenger|emergency beacon",
            "kind=satellite_messenger",
            "A device to call for help without a phone network.",
        ),
        ("map case", "kind=map_case", "A waterproof cover for a paper map."),
    ),
    colors=(),
)

KNIFE = Shelf(
    key="knife",
    category="Tools > Knives and Multi-Tools",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("pocket knife", 75, 39),
        ("pocket knife", 62, 29),
        ("multi-tool", 210, 89),
        ("multi-tool", 140, 59),
        ("fixed-blade knife", 160, 79),
        ("folding saw", 240, 45),
        ("camping axe", 620, 69),
    ),
    opens=("Cuts bread, cord and, once a year, a corner.", "A tool for the pocket that is handed on some day."),
    says={
        "pocket knife": ("A blade of eight centimeters that locks.",),
        "multi-tool": ("Pliers, two blades, a saw, screwdrivers and the opener that gets used most.",),
        "fixed-blade knife": ("Full tang and a sheath of leather.",),
        "folding saw": ("Goes through a wrist-thick branch in twenty strokes.",),
        "camping axe": ("Splits kindling and drives pegs.",),
    },
    closes=("Stainless steel.", "{weight}.", "Mind the law of the country you carry it in."),
    asks=(
        ("pocket knife|folding knife|knife|pocketknife", "kind=pocket_knife", "A small folding knife."),
        ("multitool|multi tool|multi-tool", "kind=multi-tool", "A tool with pliers and blades."),
        ("camping axe|hatchet|axe", "kind=camping_axe", "A small axe for firewood."),
        ("bushcraft knife|fixed blade knife", "kind=fixed-blade_knife", "A knife with a fixed blade."),
        ("folding saw", "kind=folding_saw", "A saw for branches."),
    ),
    colors=(),
    popular=1.2,
)

FIRST_AID = Shelf(
    key="first-aid",
    category="Tools > Safety and Care",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(
        ("first aid kit", 190, 29),
        ("first aid kit", 420, 49),
        ("blister kit", 60, 14),
        ("insect repellent", 110, 12),
        ("sunscreen", 120, 15),
        ("emergency blanket", 60, 9),
        ("bear spray", 330, 45),
    ),
    opens=(
        "Hope not to need it; take it anyway.",
        "Small, light and, on one day in a hundred, the most important thing in the pack.",
    ),
    says={
        "first aid kit": (
            "Bandages, plasters, tweezers and gloves, sorted by what has happened.",
            "For groups of up to six, with a splint that can be shaped.",
        ),
        "blister kit": ("Pads that stay on for days.",),
        "insect repellent": ("Keeps mosquitoes and ticks away for eight hours.",),
        "sunscreen": ("Factor 50, without perfume.",),
        "emergency blanket": ("Reflects body heat; gold side out.",),
        "bear spray": ("Reaches nine meters, and comes with a holster.",),
    },
    closes=("Refill packs available.", "{weight}.", "Check the date once a year."),
    starts={
        "insect repellent": "For evenings by the lake.",
        "sunscreen": "The sun is stronger up there, and snow sends it back.",
        "blister kit": "The heel complains first.",
        "bear spray": "Most bears want peace; this is for the other one.",
    },
    asks=(
        ("first aid kit|first aid|hiking first aid kit", "kind=first_aid_kit", "A bag with bandages for hikes."),
        (
            "insect repellent|mosquito spray|bug spray",
            "kind=insect_repellent",
            "Something against mosquitoes and ticks, to put on the skin.",
        ),
        ("blister plasters|blister kit", "kind=blister_kit", "Help against blisters."),
        ("emergency blanket|space blanket", "kind=emergency_blanket", "A foil blanket for emergencies."),
        ("bear spray", "kind=bear_spray", "Spray against bears."),
        ("sunscreen spf 50", "kind=sunscreen", "Sun protection for high mountains."),
    ),
    colors=(),
)

SHELVES = (HEADLAMP, LANTERN, POWER, COMPASS, KNIFE, FIRST_AID)
