"""Trainings that run unattended: recovery, time budgets, locks, pools of processes."""
