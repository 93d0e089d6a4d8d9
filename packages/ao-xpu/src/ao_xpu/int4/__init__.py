"""int4: torchao's tensor classes of four bits a number, a file for each packing format."""
