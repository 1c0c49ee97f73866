"""A page to step through, in a frame of a notebook."""

import base64
import gzip
from html import escape
from typing import Final

import attrs

_UNPACK: Final = (
    '<script>(async()=>{const b=Uint8Array.from(atob("%s"),c=>c.charCodeAt(0));'
    'const s=new Blob([b]).stream().pipeThrough(new DecompressionStream("gzip"));'
    "const t=await new Response(s).text();document.open();document.write(t);document.close()})()"
    "</script>"
)
"""A page is four times as large as it is packed, and a notebook may have a dozen."""


@attrs.frozen(repr=False)
class EmbeddedPage:
    """A page that a notebook shows in a frame, and saves. It needs no network and no file."""

    page: str
    title: str
    height: int = 620

    def _repr_html_(self) -> str:
        """The frame, for a notebook. What is in it can reach nothing outside of it."""
        packed = base64.b64encode(gzip.compress(self.page.encode(), mtime=0)).decode("ascii")
        return (
            f'<iframe title="{escape(self.title)}" width="100%" height="{self.height}" '
            'style="border: 1px solid #8884; border-radius: 6px" loading="lazy" '
            f'sandbox="allow-scripts" srcdoc="{escape(_UNPACK % packed)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"{self.title}: a page to step through, which a notebook shows"
