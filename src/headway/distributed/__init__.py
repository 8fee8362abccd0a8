"""One training by several processes: `torchrun -m headway train`, `headway train --processes N`."""
