"""Models of the judgments app: who judged what, and the final label of each pair."""

from judgments.models.audit import AuditRow
from judgments.models.declaration import Declaration
from judgments.models.document import Document
from judgments.models.example import Example
from judgments.models.fields import Among
from judgments.models.gold import GoldPair, Probe, ProbeAnswer
from judgments.models.guidelines import GuidelinesVersion
from judgments.models.job import Job
from judgments.models.judgment import Adjudication, Judgment
from judgments.models.machines.battle import Battle, BattleCanary, BattleRun
from judgments.models.machines.judging import AutoAccept, JudgeRun, MachineRun, ModelCall, ProviderCall
from judgments.models.machines.machine import Judge, MachineJudgment
from judgments.models.machines.prompt import PromptVersion
from judgments.models.machines.provider import Provider
from judgments.models.members.collection import Collection, Membership, Role
from judgments.models.members.grant import Grant
from judgments.models.members.invite_link import InviteLink, MemberInvitation
from judgments.models.members.login_tries import LoginTries
from judgments.models.members.user import ApiToken, User
from judgments.models.pair import Handout, Pair, Slot
from judgments.models.query import Query, QuerySample
from judgments.models.round import Round, RoundRater
from judgments.models.scale import Grade, Scale
from judgments.models.snapshot import Snapshot
from judgments.models.source import ImportedLabel, LabelSource, Upload
from judgments.models.stratum import Place, QueryGroup, RefusedProposal, Stratum
from judgments.models.tally import RoundReport, Tally

__all__ = [
    "Adjudication",
    "Among",
    "ApiToken",
    "AuditRow",
    "AutoAccept",
    "Battle",
    "BattleCanary",
    "BattleRun",
    "Collection",
    "Declaration",
    "Document",
    "Example",
    "GoldPair",
    "Grade",
    "Grant",
    "GuidelinesVersion",
    "Handout",
    "ImportedLabel",
    "InviteLink",
    "Job",
    "Judge",
    "JudgeRun",
    "Judgment",
    "LabelSource",
    "LoginTries",
    "MachineJudgment",
    "MachineRun",
    "MemberInvitation",
    "Membership",
    "ModelCall",
    "Pair",
    "Place",
    "Probe",
    "ProbeAnswer",
    "PromptVersion",
    "Provider",
    "ProviderCall",
    "Query",
    "QueryGroup",
    "QuerySample",
    "RefusedProposal",
    "Role",
    "Round",
    "RoundRater",
    "RoundReport",
    "Scale",
    "Slot",
    "Snapshot",
    "Stratum",
    "Tally",
    "Upload",
    "User",
]
