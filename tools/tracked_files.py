"""What the checks look at."""

import pathlib
import subprocess


def tracked_files(root, *patterns):
    """Paths, relative to root, of the files that git tracks or would track and that are there."""
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        check=True, capture_output=True, text=True).stdout
    return [path for path in sorted(set(listing.split("\0"))) if path and (pathlib.Path(root) / path).is_file()]
