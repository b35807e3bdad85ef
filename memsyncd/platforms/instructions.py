"""What the hosted platform is told to remember: sent with every add, the same text for every batch."""

CATEGORIES = {
    "project_knowledge": "How the project is built and works: its parts, names, interfaces, data and surroundings.",
    "decisions_and_constraints": "What was decided and why, what was ruled out, and limits that must be kept.",
    "workflows": "How work is done here: commands, steps and tools that proved right, and habits the person asks for.",
    "problems_and_fixes": "What went wrong, what its cause was, and what cured it.",
    "results": "What was finished or measured, with its figures and where it can be found.",
}
"""The five categories (facts 2.36), each with what belongs into it."""

SHARED = """\
The dialogue is between a person and a coding agent at work on one project. Keep what would save the next person or \
agent on this project time: facts about how the project is built, decisions with their reasons, constraints, commands \
and steps that worked, causes of failures with their cure, and results with their figures. Name files, commands, \
versions and identifiers exactly. One statement for each memory, to be understood without the dialogue; say since when \
or under which condition it holds if that matters. What was tried and given up is worth a memory only with the reason. \
Leave out greetings, progress reports, plans that were not carried out, guesses nobody confirmed, code listings, and \
anything a look into the repository shows at once. Never keep passwords, keys, tokens or other people's private \
affairs."""
"""For the memories that belong to the project and everybody who works on it."""

PERSONAL = """\
Keep what the person states about their own way of working: preferences for language, style, tools, tests and answers, \
standing wishes, corrections of the agent's behaviour, and what they are responsible for. Keep it as the person meant \
it, with the project or condition it is limited to. A wish for one task only is no preference. Leave out facts about \
the project itself, moods, small talk, and secrets of any kind."""
"""For the memories that belong to one person."""
