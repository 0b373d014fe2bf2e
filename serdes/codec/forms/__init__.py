"""The forms of a datum, and the checks and the choices of branches that belong to them."""
