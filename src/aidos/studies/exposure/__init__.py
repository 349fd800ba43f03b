"""How well exposing queries are ranked by criticality, against judgements and against the sample world's truth."""
