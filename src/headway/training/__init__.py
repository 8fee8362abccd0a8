"""One trainer for every model that has gradients: it knows losses and weights, not tasks."""
