"""What models cost: parameters, operations and memory, counted and measured."""
