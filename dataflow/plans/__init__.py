"""Plans: types of relational expressions, their text form, lowering to render plans, and explanations. All pure."""
