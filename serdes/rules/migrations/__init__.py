"""Migrations: data of one version of a subject becomes data of another by the rules of the versions between."""
