"""The rules of schemas in columns: CEL in the JVM if all of an expression can be translated, else in Python workers."""
