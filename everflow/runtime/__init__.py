"""What runs graphs: sessions, feeds and fetches, plans, devices, and the state that stays between runs.
`docs/runtime.md` tells the way of a run.
"""
