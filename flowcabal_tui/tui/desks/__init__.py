"""What the workspace does with its panes' messages: each desk asks the workbench and pours values into panes."""
