"""The embedded formats, and the schemas behind them."""
