"""Shelves of footwear: boots, trail shoes, socks, sandals and gaiters."""

from __future__ import annotations

from demo.shelf import Shelf

BOOTS = Shelf(
    key="boots",
    category="Footwear > Hiking Boots",
    title="{brand} {model} {Who} {Kind}",
    traits=("who", "kind", "lining"),
    rows=(
        ("women", "hiking boots", "waterproof", 980, 199),
        ("women", "hiking boots", "leather", 1120, 229),
        ("women", "hiking shoes", "waterproof", 720, 149),
        ("women", "hiking shoes", "mesh", 610, 119),
        ("men", "hiking boots", "waterproof", 1180, 199),
        ("men", "hiking boots", "leather", 1340, 249),
        ("men", "hiking shoes", "waterproof", 860, 149),
        ("men", "hiking shoes", "mesh", 720, 119),
        ("men", "mountaineering boots", "waterproof", 1780, 389),
        ("women", "mountaineering boots", "waterproof", 1560, 389),
        ("kids", "hiking boots", "waterproof", 640, 79),
    ),
    opens=(
        "Made on a wide last, because feet swell on the second day.",
        "A sole that grips on wet rock and lets go of mud.",
        "The {model} needs no breaking in, although it does no harm to wear it to the bakery first.",
    ),
    says={
        "hiking boots": ("The shaft holds the ankle without pinching it.",),
        "hiking shoes": ("Low cut and quick on the foot, for trails where nothing needs to hold the ankle.",),
        "mountaineering boots": ("Stiff enough for crampons with a heel lever, warm enough for a glacier at dawn.",),
        "waterproof": ("A membrane keeps streams out.", "The lining is waterproof, up to the tongue."),
        "leather": ("Full-grain leather shapes itself to the foot and can be waxed for years.",),
        "mesh": ("Airy mesh dries while you eat.",),
        "kids": ("Quick laces that small hands can manage.",),
    },
    closes=("The pair weighs {weight}.", "Can be resoled.", "In {color}."),
    asks=(
        (
            "hiking boots|walking boots|hiking boot|hikking boots|boots",
            "kind=hiking_boots",
            "Boots over the ankle for hiking. Low shoes are second best.",
        ),
        (
            "hiking boots women|womens walking boots|ladies hiking boots",
            "who=women kind=hiking_boots",
            "Boots over the ankle for a woman.",
        ),
        (
            "hiking boots men|mens hiking boots|mens walking boots",
            "who=men kind=hiking_boots",
            "Boots over the ankle for a man.",
        ),
        ("waterproof hiking boots", "kind=hiking_boots lining=waterproof", "Boots that keep the feet dry."),
        ("hiking shoes|walking shoes|low hiking shoes", "kind=hiking_shoes", "Low shoes for easy trails."),
        (
            "waterproof hiking shoes women",
            "who=women kind=hiking_shoes lining=waterproof",
            "Low, waterproof shoes for a woman.",
        ),
        ("leather hiking boots", "kind=hiking_boots lining=leather", "Classic boots of leather."),
        (
            "mountaineering boots|crampon boots|alpine boots",
            "kind=mountaineering_boots",
            "Stiff boots that take crampons.",
        ),
        ("kids hiking boots", "who=kids", "Boots for a child."),
    ),
    near=("trail-shoes",),
    popular=2.8,
)

TRAIL_SHOES = Shelf(
    key="trail-shoes",
    category="Footwear > Trail Running",
    title="{brand} {model} {Who} Trail Running Shoes",
    traits=("who", "cushion"),
    rows=(
        ("women", "soft", 520, 139),
        ("women", "firm", 450, 129),
        ("men", "soft", 610, 139),
        ("men", "firm", 530, 129),
        ("men", "waterproof", 640, 159),
        ("women", "waterproof", 560, 159),
    ),
    opens=("Fast downhill, sure uphill.", "Lugs of five millimeters bite into soft ground and clear themselves."),
    says={
        "soft": ("A thick midsole takes the sting out of long distances.",),
        "firm": ("Low and direct, for runners who want to feel the path.",),
        "waterproof": ("A membrane for winter runs through slush.",),
    },
    closes=("Drop 6 mm.", "{weight} the pair.", "Toe cap of rubber.", "{color}."),
    asks=(
        ("trail running shoes|trail shoes|trail runners|trail runing shoes", "", "Running shoes for paths and hills."),
        ("trail running shoes women|womens trail shoes", "who=women", "Trail running shoes for a woman."),
        ("trail running shoes men", "who=men", "Trail running shoes for a man."),
        ("waterproof trail running shoes", "cushion=waterproof", "Trail shoes that keep slush out."),
    ),
    near=("boots",),
    popular=1.8,
)

SOCKS = Shelf(
    key="socks",
    category="Footwear > Socks",
    title="{brand} {model} {Fabric} {Kind}",
    traits=("fabric", "kind"),
    rows=(
        ("merino", "hiking socks", 80, 19),
        ("merino", "ankle socks", 50, 15),
        ("merino", "ski socks", 110, 29),
        ("synthetic", "hiking socks", 70, 12),
        ("merino", "hiking socks", 95, 22),
        ("synthetic", "liner socks", 30, 9),
        ("waterproof", "hiking socks", 120, 39),
    ),
    opens=("Blisters begin with the wrong sock.", "No seam at the toes, and padding only where the boot presses."),
    says={
        "merino": ("Merino wool keeps them fresh for days.",),
        "synthetic": ("Polyamide dries on the pack.",),
        "waterproof": ("Three layers with a membrane between them keep feet dry in running water.",),
        "ski socks": ("Knee-high with a padded shin.",),
        "liner socks": ("Worn under a thicker sock, they take the rubbing.",),
    },
    closes=("Sold as a pair.", "Sizes 35 to 47.", "Lifetime darning advice included."),
    asks=(
        ("hiking socks|walking socks|merino socks|wool socks", "kind=hiking_socks", "Socks for boots."),
        ("waterproof socks", "fabric=waterproof", "Socks that keep water out."),
        ("ski socks", "kind=ski_socks", "Long socks for ski boots."),
        ("merino hiking socks", "fabric=merino kind=hiking_socks", "Hiking socks of merino wool."),
    ),
    near=("base-layer",),
    colors=(),
    popular=1.3,
)

SANDALS = Shelf(
    key="sandals",
    category="Footwear > Sandals",
    title="{brand} {model} {Who} {Kind}",
    traits=("who", "kind"),
    rows=(
        ("women", "hiking sandals", 480, 89),
        ("men", "hiking sandals", 590, 89),
        ("women", "hiking sandals", 430, 109),
        ("unisex", "camp slippers", 260, 69),
        ("kids", "hiking sandals", 310, 45),
        ("men", "water shoes", 420, 59),
    ),
    opens=(
        "Straps that adjust in three places and stay where they were put.",
        "For river crossings, ferry decks and the last ten kilometers.",
    ),
    says={
        "hiking sandals": ("The footbed is shaped and the sole has real tread.",),
        "camp slippers": ("Filled with fiber, for the hut and the tent porch.",),
        "water shoes": ("Drain holes and a closed toe.",),
    },
    closes=("{color}.", "{weight} the pair.", "Can be washed."),
    asks=(
        ("hiking sandals|walking sandals|sandals", "kind=hiking_sandals", "Sandals that can be hiked in."),
        ("water shoes", "kind=water_shoes", "Shoes for wading and paddling."),
        ("hut slippers|camp shoes|camp slippers", "kind=camp_slippers", "Warm slippers for a mountain hut."),
    ),
    near=("trail-shoes",),
)

GAITERS = Shelf(
    key="gaiters",
    category="Footwear > Gaiters",
    title="{brand} {model} {Kind}",
    traits=("kind",),
    rows=(("snow gaiters", 240, 69), ("snow gaiters", 280, 89), ("trail gaiters", 40, 29), ("trail gaiters", 60, 35)),
    opens=(
        "Keep what lies on the trail out of the boot.",
        "A hook in front, a strap under the sole, and a drawcord below the knee.",
    ),
    says={
        "snow gaiters": ("Knee-high and waterproof, with an edge that crampons do not tear.",),
        "trail gaiters": ("Ankle-high stretch cloth against sand and gravel.",),
    },
    closes=("Sold as a pair.", "{weight}.", "{color}."),
    asks=(
        ("gaiters|hiking gaiters|gators", "", "Covers for the lower leg against snow, mud or gravel."),
        ("snow gaiters", "kind=snow_gaiters", "High gaiters for deep snow."),
        ("trail running gaiters", "kind=trail_gaiters", "Low gaiters that keep gravel out of running shoes."),
    ),
    near=("boots",),
)

SHELVES = (BOOTS, TRAIL_SHOES, SOCKS, SANDALS, GAITERS)
