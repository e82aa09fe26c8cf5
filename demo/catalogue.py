"""Product catalog of the invented shop, as documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

from demo.shelf import COLORS, SHELVES, Shelf

SEED = 20
FIRST_NUMBER = 1001

BRANDS = (
    "Quillmoor", "Ostrelund", "Brackfern", "Velkrin", "Tindrake", "Nimbrel", "Karrowick", "Larchfold", "Hulderay",
    "Pellivane", "Skarnholm", "Dunmarrow",
)  # fmt: skip
MODELS = (
    "Plover", "Sedge", "Drift", "Tarn", "Skerry", "Juniper", "Heron", "Kite", "Puffin", "Cirque", "Moraine", "Scree",
    "Rowan", "Alder", "Corrie", "Strand", "Gannet", "Dipper", "Siskin", "Linnet", "Fulmar", "Petrel", "Stoat", "Pika",
    "Ibex", "Chough", "Wren", "Hollow", "Brook", "Cinder",
)  # fmt: skip
WHO = {"women": "Women's", "men": "Men's", "kids": "Kids'", "unisex": ""}
AS_IT_IS = {"and", "with", "m", "mm", "mAh", "W", "GPS", "UV"}

# As in a real shop, some products have no description, and some are listed again in a second color.
UNDESCRIBED_EVERY = 37
RECOLORED_EVERY = 12


@dataclass(frozen=True)
class Product:
    """One product, before it becomes a document."""

    shelf: Shelf
    brand: str
    model: str
    traits: Mapping[str, str]
    grams: int
    price: float
    color: str
    text: str
    suffix: str = ""

    @property
    def words(self) -> dict[str, str]:
        """Return the template values: traits as they are, and capitalized for titles."""
        words = {"brand": self.brand, "model": self.model, "color": self.color, "weight": weight_of(self.grams)}
        for name, value in self.traits.items():
            words |= {name: value, name.capitalize(): WHO[value] if name == "who" else in_title(value)}
        return words

    @property
    def title(self) -> str:
        """Return the title as the shop shows it."""
        return " ".join(self.shelf.title.format(**self.words).split()) + self.suffix


def documents() -> list[dict[str, Any]]:
    """Return the shop's products, each as a line of documents.jsonl."""
    return [_document(f"G{number}", product) for number, product in enumerate(_products(), start=FIRST_NUMBER)]


def weight_of(grams: int) -> str:
    """Return a weight as a label shows it."""
    return f"{grams} g" if grams < 1000 else f"{grams / 1000:g} kg"


def in_title(value: str) -> str:
    """Return a trait as titles show it."""
    return " ".join(word if word in AS_IT_IS else _capitals(word) for word in value.split())


def _capitals(word: str) -> str:
    return "-".join(part[:1].upper() + part[1:] for part in word.split("-"))


@lru_cache(maxsize=1)
def _products() -> tuple[Product, ...]:
    products = [product for shelf in SHELVES.values() for product in _stock(shelf)]
    products = [
        replace(product, text="") if place % UNDESCRIBED_EVERY == 0 else product
        for place, product in enumerate(products, start=1)
    ]
    colored = [product for product in products if product.color and product.text]
    products += [_recolored(product) for product in colored[::RECOLORED_EVERY]]
    Random(SEED).shuffle(products)
    return tuple(products)


def _stock(shelf: Shelf) -> list[Product]:
    random = Random(f"{SEED}:{shelf.key}")
    brands = random.sample(BRANDS, 5)
    models = random.sample(MODELS, len(shelf.rows))
    opens = _in_turn(shelf.opens, random)
    closes = _in_turn((*shelf.closes, ""), random)
    stock = []
    for place, (row, model) in enumerate(zip(shelf.rows, models, strict=True)):
        *values, grams, price = row
        product = Product(
            shelf=shelf,
            brand=random.choice(brands),
            model=model,
            traits=dict(zip(shelf.traits, map(str, values), strict=True)),
            grams=int(grams),
            price=float(price),
            color=random.choice(shelf.colors) if shelf.colors else "",
            text="",
        )
        starts = [shelf.starts[value] for value in product.traits.values() if value in shelf.starts]
        ends = [] if starts else [closes[place % len(closes)]]
        sentences = [*(starts or [opens[place % len(opens)]]), *_phrases(product, random), *ends]
        stock.append(replace(product, text=" ".join(filter(None, sentences)).format(**product.words)))
    return stock


def _in_turn(sentences: tuple[str, ...], random: Random) -> list[str]:
    return random.sample(sentences, len(sentences))


def _phrases(product: Product, random: Random) -> list[str]:
    phrases = [product.shelf.says[value] for value in product.traits.values() if value in product.shelf.says]
    return [random.choice(sentences) for sentences in phrases][:2]


def _recolored(product: Product) -> Product:
    color = COLORS[(COLORS.index(product.color) + 3) % len(COLORS)]
    return replace(product, color=color, text=product.text.replace(product.color, color), suffix=f" ({color})")


def _document(doc_id: str, product: Product) -> dict[str, Any]:
    fields = {
        "category": product.shelf.category,
        "brand": product.brand,
        "price": f"${product.price:,.2f}",
        "weight": weight_of(product.grams),
    }
    if product.color:
        fields["color"] = product.color
    return {
        "doc_id": doc_id,
        "title": product.title,
        "text": product.text,
        "url": f"https://shop.example/products/{doc_id.lower()}",
        "image": "",
        "fields": fields | dict(product.traits),
    }
