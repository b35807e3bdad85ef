"""A batch's messages as turns: each with its sentences and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from memsyncd.platforms.local import marks
from memsyncd.platforms.local.judging import is_question
from memsyncd.platforms.local.sentences import Sentence, sentences_of, split_sentences
from memsyncd.platforms.local.terms import fold, terms_of
from memsyncd.platforms.platform import Message

TELLING_WORDS = 5
"""A request with fewer words of its own ("yes, do that") leaves its subject to the one before."""

MAX_REQUEST_CHARS = 400


MAX_TROUBLE_CHARS = 120
"""A sentence that names an error is carried whole up to here, above only the error's name."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `request` is what the user asked for last and `before` what came before it, `asked` the question
    in it, if any; `previous` are the sentences of the message before. `closes_turn`: the user speaks next, or nobody;
    `closes_packet`: the batch's last answer."""

    by_user: bool
    sentences: Sequence[Sentence]
    request: str
    before: str
    asked: str
    closes_turn: bool
    closes_packet: bool
    previous: Sequence[Sentence]

    def around(self, sentence: Sentence) -> str:
        """Return the sentences before and after one, which often name its subject."""
        near = self.sentences[max(0, sentence.position - 1) : sentence.position + 2]
        return " ".join(other.text for other in near if other is not sentence)

    def why_after(self, sentence: Sentence) -> str:
        """Return the sentence that explains a bare verdict of the user's ("it was a disaster."), if one follows."""
        following = self.sentences[sentence.position + 1 : sentence.position + 2]
        if not self.by_user or sentence.in_list or not following or not marks.BARE_VERDICT.search(fold(sentence.text)):
            return ""
        folded = fold(following[0].text)
        return "" if is_question(folded) or marks.TASK.search(folded) else following[0].text

    def trouble_before(self, sentence: Sentence) -> str:
        """Return what names the trouble that `sentence` speaks of as "the failure": an error named before it or in
        the request, else the request's own complaint; empty where it names one itself or nothing does."""
        folded = fold(sentence.text)
        if self.by_user or not marks.UNNAMED_TROUBLE.search(folded) or marks.ERROR_NAME.search(sentence.text):
            return ""
        earlier = [each.text for each in self.sentences[: sentence.position]]
        requested = split_sentences(self.request)
        for text in (*reversed(earlier), *reversed(requested)):
            named = marks.ERROR_NAME.search(text)
            if named:
                return text.rstrip(".!?") if len(text) <= MAX_TROUBLE_CHARS else named.group()
        complaints = [each for each in requested if marks.COMPLAINT.search(fold(each))]
        return complaints[-1].rstrip(".!?") if complaints else ""


def turns_of(messages: Sequence[Message]) -> Sequence[Turn]:
    """Return the turns of a dialogue from which evidence blocks have been taken."""
    last_answer = max((index for index, message in enumerate(messages) if message.role == "assistant"), default=-1)
    turns: list[Turn] = []
    request = before = asked = ""
    previous: Sequence[Sentence] = ()
    for index, message in enumerate(messages):
        sentences = sentences_of(message.content)
        by_user = message.role == "user"
        if by_user:
            before = request
            request = _request(" ".join(sentence.text for sentence in sentences), request)
            asked = next((_asked(each) for each in reversed(sentences) if is_question(fold(each.text))), "")
        closes = index + 1 == len(messages) or messages[index + 1].role == "user"
        turns.append(Turn(by_user, sentences, request, before, asked, closes, index == last_answer, previous))
        previous = sentences
    return turns


def is_telling(text: str) -> bool:
    """Whether a text says what it is about."""
    return len(set(terms_of(text).words)) >= TELLING_WORDS


def _asked(question: Sentence) -> str:
    """Return what a question is about: of "The map is slow. Can you look into it?" the first sentence."""
    is_bare_request = marks.TASK.search(fold(question.text)) and not is_telling(question.text)
    return question.before.rstrip(".!") if is_bare_request and question.before else question.text


def _request(said: str, before: str) -> str:
    if not is_telling(said):
        said = f"{said} {before}"
    return said.strip()[:MAX_REQUEST_CHARS]
