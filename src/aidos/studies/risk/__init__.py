"""How well risk measures rank the people of a sensitive topic, by judgements and by the sample world's truth."""
