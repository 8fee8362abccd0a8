"""`headway serve`: runs behind an address that existing clients speak to."""

from pathlib import Path

from headway.commands.arguments import say
from headway.core.errors import ConfigError


def serve(*run: Path, host: str = "127.0.0.1", port: int = 5000) -> None:
    """Serve translations by trained runs over HTTP, to the clients that people have.

    Parameters
    ----------
    run
        Run folders, one for each pair of languages.
    host
        Address to listen at; others than this machine only reach 0.0.0.0.
    port
        Port to listen at.
    """
    try:
        import starlette
        import uvicorn
    except ImportError:
        raise ConfigError(
            'a service needs its packages. Install them with: pip install "headway[serve]"'
        ) from None
    del starlette
    from headway.serving.app import application
    from headway.serving.runs import ServedRuns
    from headway.serving.service import Service
    from headway.translator import Translator

    app = application(Service(ServedRuns(run, Translator.load)))
    say(f"headway: http://{host}:{port}/ (Ctrl-C ends it)")
    uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False)
