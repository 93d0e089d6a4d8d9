"""One program over several devices: from arrays of the whole to the part that each device has."""
