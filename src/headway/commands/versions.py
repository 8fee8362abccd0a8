"""`headway --version --verbose`: what runs here, a line each."""

import platform
from contextlib import suppress


def tell_versions() -> None:
    """Print versions, the machine, and what translates on its processor."""
    import torch

    from headway.core.errors import ConfigError
    from headway.core.runtime import available_cores, cpu_name
    from headway.engine.building import NoEngineError, engine_library
    from headway.exchange import ctranslate2
    from headway.version import __version__

    try:
        translates = f"native (compiled here, {32 * engine_library().width} bits wide)"
    except NoEngineError as error:
        translates = f"torch: {error}"
    cores = available_cores()
    print(f"headway {__version__}, Python {platform.python_version()}, torch {torch.__version__}")
    print(f"{cpu_name()}, {cores} core{'s'[: cores > 1]}")
    print(f"engine: {translates}")
    with suppress(ConfigError):
        ctranslate2.require()
        print(f"--runtime.engine ctranslate2: CTranslate2 {ctranslate2.version()}")
