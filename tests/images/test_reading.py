"""Files of pictures: what becomes of good ones, and what is said of bad ones."""

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from drawn_pictures import KINDS, drawn, idx_bytes, write_folders, write_idx
from PIL import Image

from headway.core.errors import DataError
from headway.images.decoding import PictureShape, decoded, read_idx, shape_of_file
from headway.images.reading import any_source, checksum_of, examples, fitted_shape, labelled_source


def silent(_: str) -> None:
    pass


def pixels_of(place: Path) -> dict[bytes, str]:
    source = labelled_source(place, silent)
    shape = fitted_shape(source.shapes, 0)
    labels = sorted({*source.labels})
    found = examples([source], (), labels, shape, silent)
    return {one.input.tobytes(): labels[one.target] for one in found}


def test_idx_and_a_folder_of_the_same_pictures_give_the_same(tmp_path):
    of_idx = pixels_of(write_idx(tmp_path / "idx"))
    of_folder = pixels_of(write_folders(tmp_path / "folders"))
    assert len(of_idx) == 60
    assert {pixels: KINDS[int(label)] for pixels, label in of_idx.items()} == of_folder
    pictures, kinds = drawn(60)
    assert of_folder[pictures[7].tobytes()] == KINDS[kinds[7]]


def test_files_that_are_no_pictures_are_left_out_and_said(tmp_path):
    folder, said = write_folders(tmp_path / "folders"), list[str]()
    first, *others = sorted(folder.rglob("*.png"))
    first.write_text("no picture", encoding="utf-8")
    source = labelled_source(folder, said.append)
    assert source.names == [*map(str, others)]
    assert list(source.labels) == [path.parent.name for path in others]
    assert len(source.shapes) == 59
    assert "1 files are left out" in said[0]
    assert str(first) in said[0]
    for path in folder.rglob("*.png"):
        path.write_text("no picture", encoding="utf-8")
    with pytest.raises(DataError, match="is none, or is damaged"):
        labelled_source(folder, said.append)


def test_a_picture_that_breaks_off_behind_its_header_is_left_out_and_said(tmp_path):
    folder, said = write_folders(tmp_path / "folders"), list[str]()
    first, second, *_ = sorted(folder.rglob("*.png"))
    first.write_bytes(first.read_bytes()[: first.stat().st_size // 2])
    source = labelled_source(folder, said.append)
    assert (len(source.names), said) == (60, [])
    found = examples([source], (), KINDS, PictureShape(12, 12, 1), said.append)
    assert len(found) == 59
    assert (found[0].input == decoded(second, PictureShape(12, 12, 1))).all()
    assert len(said) == 1
    assert said[0].startswith("WARNING: 1 files are left out")
    assert str(first) in said[0]
    alone = source._replace(names=source.names[:1], labels=source.labels[:1])
    with pytest.raises(DataError, match="damaged"):
        examples([alone], (), KINDS, PictureShape(12, 12, 1), silent)


def test_an_unpacked_idx_file_is_read_as_a_packed_one(tmp_path):
    packed = write_idx(tmp_path)
    plain = tmp_path / "plain-images-idx3-ubyte"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    (tmp_path / "plain-labels-idx1-ubyte.gz").write_bytes(
        (tmp_path / "train-labels-idx1-ubyte.gz").read_bytes()
    )
    assert pixels_of(plain) == pixels_of(packed)


def test_colour_is_kept_and_grey_stays_grey_unless_one_is_in_colour(tmp_path):
    grey, colour = np.full((4, 4), 90, np.uint8), np.zeros((4, 4, 3), np.uint8)
    colour[..., 0] = 200
    for name, array in (("grey", grey), ("colour", colour)):
        Image.fromarray(array).save(tmp_path / f"{name}.png")
    shapes = [shape_of_file(tmp_path / f"{name}.png") for name in ("grey", "colour")]
    assert [shape.channels for shape in shapes] == [1, 3]
    both = fitted_shape(shapes, 0)
    assert both == (4, 4, 3)
    assert (decoded(tmp_path / "colour.png", both) == colour).all()
    assert (decoded(tmp_path / "grey.png", both) == 90).all()


def test_deep_grey_transparent_and_turned_pictures_look_as_they_do_in_a_viewer(tmp_path):
    deep = tmp_path / "deep.png"
    Image.fromarray(np.array([[0, 25_700], [65_535, 257]], np.uint16)).save(deep)
    assert decoded(deep, PictureShape(2, 2, 1)).ravel().tolist() == [0, 100, 255, 1]
    clear = tmp_path / "clear.png"
    Image.fromarray(np.array([[[9, 9, 9, 0], [9, 9, 9, 255]]], np.uint8)).save(clear)
    assert decoded(clear, PictureShape(1, 2, 3)).tolist() == [[[255] * 3, [9] * 3]]
    turned, exif = tmp_path / "turned.jpg", Image.Exif()
    exif[0x0112] = 6
    wide = np.zeros((8, 16), np.uint8)
    wide[:, :8] = 255  # white on the left; upright that is on top
    Image.fromarray(wide).save(turned, exif=exif, quality=95)
    upright = decoded(turned, PictureShape(16, 8, 1))[:, :, 0]
    assert upright[:6].min() > 200
    assert upright[10:].max() < 50


@pytest.mark.parametrize(
    ("sides", "asked", "found"),
    [
        ([(28, 28)], 0, (28, 28)),
        ([(30, 30)], 0, (32, 32)),
        ([(20, 40)], 0, (20, 40)),
        ([(300, 300)], 0, (64, 64)),
        ([(10, 20), (30, 10), (50, 50)], 0, (32, 32)),
        ([(10, 20), (30, 10)], 24, (24, 24)),
        ([(1, 1)], 0, (4, 4)),
    ],
)
def test_the_size_is_their_own_where_it_is_one_and_small(sides, asked, found):
    assert fitted_shape([PictureShape(*two, 1) for two in sides], asked)[:2] == found


def test_other_files_are_left_out_and_said_hidden_ones_left_out(tmp_path):
    place, told = write_folders(tmp_path), list[str]()
    (place / "spot" / "notes.txt").write_text("dots", "utf-8")
    (place / "spot" / ".DS_Store").write_bytes(b"\0")
    (place / ".cache").mkdir()
    next((place / "spot").glob("*.png")).rename(place / "idx.png")
    assert len(labelled_source(place, told.append).names) == 59
    assert len(told) == 2
    assert told[0].startswith("1 files in")
    assert told[1].startswith("1 pictures in")
    assert len(any_source(place / "idx.png", silent).names) == 1, "no idx file, by its ending"


def test_a_checksum_knows_names_and_bytes(tmp_path):
    place = write_folders(tmp_path / "a")
    before = checksum_of(place)
    assert checksum_of(place) == before
    moved = next((place / "spot").glob("*.png"))
    moved.rename(place / "down" / moved.name)
    assert checksum_of(place) != before


# -- what is refused ---------------------------------------------------------------------------


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_an_idx_file_that_is_cut_off_or_lies_is_refused_without_its_memory(tmp_path):
    pictures, _ = drawn(5)
    whole = idx_bytes(pictures)
    for content, words in (
        (whole[:-1], "says 5 x 12 x 12, and 719 bytes were read"),
        (whole + b"!", "says 5 x 12 x 12, and 721 bytes were read"),
        (idx_bytes(pictures, (10**9, 28, 28)), "1,000,000,000 x 28 x 28"),
        (idx_bytes(pictures, (10**6, 28, 28)), "and 720 bytes were read"),
        (idx_bytes(pictures, (0, 28, 28)), "0 x 28 x 28"),
        (whole[:9], "5 x 0 x 0"),
        (b"\0\0\x0d\x03" + whole[4:], "begins with 0 0 8 3"),
        (b"\x89PNG\r\n", "begins with 0 0 8 3"),
    ):
        for name, bytes_ in (("a-idx3", content), ("a-idx3.gz", gzip.compress(content))):
            with pytest.raises(DataError, match=words):
                read_idx(written(tmp_path / name, bytes_), 3)
    packed = gzip.compress(whole)
    with pytest.raises(DataError, match="damaged or cut off"):
        read_idx(written(tmp_path / "b-idx3.gz", packed[: len(packed) // 2]), 3)
    with pytest.raises(DataError, match="no such file"):
        read_idx(tmp_path / "none-idx3.gz", 3)


def test_labels_are_missed_where_there_are_none_or_others(tmp_path):
    images = write_idx(tmp_path)
    labels = tmp_path / "train-labels-idx1-ubyte.gz"
    labels.write_bytes(gzip.compress(idx_bytes(np.zeros(59, np.uint8))))
    with pytest.raises(DataError, match="60 pictures, .* has 59 labels"):
        labelled_source(images, silent)
    labels.unlink()
    with pytest.raises(DataError, match="there is no train-labels-idx1-ubyte"):
        labelled_source(images, silent)


def test_what_is_no_picture_is_named(tmp_path):
    good = written(tmp_path / "a.png", b"")
    Image.new("L", (9, 9)).save(good)
    whole = good.read_bytes()
    for content in (b"GIF89a and nothing more", whole[:40], whole[:-30], b"\xff\xd8\xff\xe0 jpeg"):
        bad = written(tmp_path / "bad.png", content)
        with pytest.raises(DataError, match=r"is a PNG or JPEG file; .*bad.png is none"):
            decoded(bad, PictureShape(9, 9, 1))
    with pytest.raises(DataError, match="no such file"):
        decoded(tmp_path / "gone.png", PictureShape(9, 9, 1))
    with pytest.raises(DataError, match="is empty"):
        decoded(written(tmp_path / "empty.png", b""), PictureShape(9, 9, 1))


def test_a_bomb_of_50_000_by_50_000_pixels_is_refused_before_it_is_unpacked(tmp_path):
    def chunk(name: bytes, content: bytes) -> bytes:
        sum_ = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + sum_

    for side in (50_000, 10_000):
        header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
        body = (
            chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 9)) + chunk(b"IEND", b"")
        )
        bomb = written(tmp_path / "bomb.png", b"\x89PNG\r\n\x1a\n" + body)
        with pytest.raises(DataError, match="has more, and was not unpacked"):
            shape_of_file(bomb)


def test_pictures_in_no_folder_of_a_class_are_told_where_to_be(tmp_path):
    Image.new("L", (9, 9)).save(tmp_path / "a.png")
    with pytest.raises(DataError, match="lie in a folder for each class"):
        labelled_source(tmp_path, silent)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="there is no picture in"):
        any_source(tmp_path / "empty", silent)
