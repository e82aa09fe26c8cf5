"""Models of the judgments app: who judged what, and the final label of each pair."""

from judgments.models.audit import AuditRow
from judgments.models.document import Document
from judgments.models.event import CollectionEvent, Delivery, Notice, NoticePreference, Webhook
from judgments.models.fields import Among
from judgments.models.gold import GoldPair, Probe, ProbeAnswer
from judgments.models.job import Job
from judgments.models.machines.battle import Battle, BattleCanary, BattleRun
from judgments.models.machines.machine import (
    AutoAccept,
    Judge,
    JudgeRun,
    MachineJudgment,
    MachineRun,
    ModelCall,
    PromptVersion,
    Provider,
    ProviderCall,
)
from judgments.models.members.collection import (
    Collection,
    Declaration,
    Grant,
    InviteLink,
    MemberInvitation,
    Membership,
    Role,
)
from judgments.models.members.user import ApiCalls, ApiToken, IdempotentRequest, LoginTries, User
from judgments.models.pair import Adjudication, Example, Handout, Judgment, Pair, Slot
from judgments.models.query import Place, Query, QueryGroup, QuerySample, RefusedProposal, Stratum
from judgments.models.round import Grade, GuidelinesVersion, Round, RoundRater, RoundReport, Scale, Tally
from judgments.models.snapshot import Snapshot
from judgments.models.source import ImportedLabel, LabelSource, Upload, UploadSession
