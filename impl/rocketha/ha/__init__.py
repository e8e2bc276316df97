"""The protocol cores of master and slave: state and event in, state and effects out."""
