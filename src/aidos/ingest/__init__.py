"""From files to tables: formats and how to recognise them, what is wrong with a file, and what would mend it."""
