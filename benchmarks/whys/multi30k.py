from argparse import Namespace


def ask(asked: Namespace) -> int:
    raise NotImplementedError
