"""The screen of an open project: seven panes in three columns, and the controllers behind them."""
