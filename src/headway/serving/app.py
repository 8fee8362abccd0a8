"""The application: every door of the service, behind one guard."""

from starlette.applications import Starlette

from headway.serving import own
from headway.serving.service import Service

DOORS = (own.routes,)
"""Each gives its routes for a service."""


def application(service: Service) -> Starlette:
    """What a server runs."""
    return Starlette(routes=[one for routes in DOORS for one in routes(service)])
