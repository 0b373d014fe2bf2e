"""CEL, the language of rules: the one adapter of the engine, cel-expr-python (extra `rules`).

The registry checks expressions with it, the serdes evaluate them, and Spark reads their trees. The engine is imported
when the first expression is compiled, because that takes a tenth of a second.
"""
