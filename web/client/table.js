/**
 * The fields of AgJSON v1 that travel to clients: the rows of pkg/agjson/protocol.table up to the input types, word for word
 * (a Go test of web/ compares them). See that file for the notation.
 *
 * @module
 */

/** The rows. */
export const table = `
enum Role user assistant tool system
enum Audience user assistant
enum OpaqueKind signature ciphertext encrypted redacted
enum ToolOutcome ok error denied input_required
enum CodeOutcome ok failed deadline_exceeded
enum Visibility model app
enum IndexUnit char byte utf16
enum IndexBounds [start,end) [start,end]
enum IndexFrame source response
enum MemoryScope agent user skill thread
enum HandoffKind transfer escalate
enum BlockReason safety blocklist prohibited other
enum GuardrailTarget input output tool
enum GuardrailAction block retry rewrite override terminate
enum FinishReason stop token_limit context_window_exceeded tool_call paused pause_turn refusal safety_blocked malformed_tool_call unexpected_tool_call rejected other unknown
enum TriggerKind user resume schedule webhook email agent cron unknown
enum AskKind approval form text choice auth url
enum Continuation resume turn
enum ResumeBinding id positional
enum DisplayMode inline pip fullscreen
enum CallableFrom clientOnly remoteOnly clientOrRemote
enum ReasoningMode summarized full
enum ReasoningSwitch enabled disabled
enum Effort minimal low medium high
enum AnswerStatus resolved declined cancelled
enum Scheduling when_idle preempt silent
enum Profile CORE EXTENDED ADVANCED
enum Surface a2ui mcp-app openai-app

# ── shared parts (§2) ──

object AgOpaque OpaqueBlob
  kind OpaqueKind
  value secret
  provider? string

object AgAnnotations Annotations
  audience? []Audience
  priority? number
  lastModified? string

union AgSource Source type
  case base64 Base64Source
    mediaType string
    data string
  case url URLSource
    url string
    mediaType? string
  case file FileSource
    fileId string
    mediaType? string

union AgSourcePayload SourcePayload type
  case base64 Base64Grounding
    mediaType string
    data string
  case url URLGrounding
    url string
    mediaType? string
  case file FileGrounding
    fileId string
    mediaType? string
  case document DocumentGrounding
    mediaType? string
    title? string
    filename? string
  case - LinkGrounding
    url string
    title? string

union AgCitation Citation kind
  citedText string
  source? string
  title? string
  confidence? Confidence
  confidenceScores? []number
  encryptedIndex? string
  indexFrame? IndexFrame
  case char CharCitation
    documentIndex number
    startCharIndex number
    endCharIndex number
    unit? IndexUnit
    bounds? IndexBounds
  case page PageCitation
    documentIndex number
    startPage number
    endPage number
  case block BlockCitation
    documentIndex number
    startBlockIndex number
    endBlockIndex number
  case url URLCitation
    url string
    startIndex? number
    endIndex? number
    unit? IndexUnit
    bounds? IndexBounds
  case offset OffsetCitation
    startIndex number
    endIndex number
    sourceIds []string
    partIndex? number
    unit IndexUnit
    bounds IndexBounds

object AgEmbeddedResource EmbeddedResource
  uri string
  mimeType? string
  text? string
  blob? string
  _meta? meta

object PendingInput PendingInput
  requestState? secret
  inputKeys? []string

# ── content blocks (§2) ──

union AgBlock Block type
  case text TextBlock CORE
    text string
    citations? []AgCitation
    providerMetadata? bag
    annotations? AgAnnotations
    _meta? meta
  case image ImageBlock CORE
    source AgSource
    providerMetadata? bag
    annotations? AgAnnotations
    _meta? meta
  case audio AudioBlock EXTENDED
    source AgSource
    providerMetadata? bag
    annotations? AgAnnotations
    _meta? meta
  case file FileBlock EXTENDED
    source AgSource
    filename? string
    providerMetadata? bag
    annotations? AgAnnotations
    _meta? meta
  case document DocumentBlock EXTENDED
    source AgSource
    title? string
    providerMetadata? bag
    annotations? AgAnnotations
    _meta? meta
  case resource ResourceBlock EXTENDED
    resource AgEmbeddedResource
    annotations? AgAnnotations
    _meta? meta
  case resource-link ResourceLinkBlock EXTENDED
    uri string
    mimeType? string
    annotations? AgAnnotations
    _meta? meta
  case code CodeBlock EXTENDED
    language string
    code string
    annotations? AgAnnotations
    _meta? meta
  case code-result CodeResultBlock EXTENDED
    outcome CodeOutcome
    output string
    annotations? AgAnnotations
    _meta? meta
  case reasoning ReasoningBlock EXTENDED
    text? string
    opaque? AgOpaque
    provider? string
    providerMetadata? bag
    providerDetails? any
    itemId? string
    annotations? AgAnnotations
    _meta? meta
  case compaction CompactionBlock EXTENDED
    text? string
    opaque? AgOpaque
    provider? string
    annotations? AgAnnotations
    _meta? meta
  case search-result SearchResultBlock EXTENDED
    url? string
    title? string
    opaque? AgOpaque
    pageAge? string
    annotations? AgAnnotations
    _meta? meta
  case tool-call ToolCallBlock CORE
    toolCallId string
    name string
    input any
    serverName? string
    providerExecuted? bool
    signature? secret
    provider? string
    title? string
    toolMetadata? meta
    itemId? string
    providerCallIndex? number
    uiVisibility? []Visibility
    providerMetadata? bag
    annotations? AgAnnotations
    _meta? meta
  case tool-result ToolResultBlock CORE
    toolCallId string
    content []AgBlock
    outcome? ToolOutcome
    structuredContent? any
    uiData? any
    sideData? any
    errorText? string
    errorCode? string
    providerMetadata? bag
    toolMetadata? meta
    dynamic? bool
    pendingInput? PendingInput
    preliminary? bool
    isError? bool
    annotations? AgAnnotations
    _meta? meta
  case data DataBlock EXTENDED
    name string
    id? string
    data any
    transient? bool
    annotations? AgAnnotations
    _meta? meta
  case provider-raw ProviderRawBlock EXTENDED
    vendor string
    raw any
    annotations? AgAnnotations
    _meta? meta

# ── outcomes, usage, safety (§4) ──

object AgUsage Usage
  inputTokens? number
  outputTokens? number
  cacheReadTokens? number
  cacheWriteTokens? number
  reasoningTokens? number
  toolUseInputTokens? number
  totalTokens? number
  costUsd? number
  cumulative? bool
  byModel? map[AgUsage]
  serverToolRequests? number

object AgSafety Safety
  category string
  score? number
  probability? string
  blocked? bool

object AgTrigger Trigger
  kind TriggerKind
  ref? string

object AgChoice Choice
  id string
  label string
  value? any

object AgAuthConfig AuthConfig
  scheme string
  scopes? []string
  authorizationUrl? string
  tokenUrl? string
  clientId? string
  audience? string

object AgPausedAsk PausedAsk
  askId string
  kind AskKind
  message? string
  toolCallId? string
  schema? any
  choices? []AgChoice
  authConfig? AgAuthConfig
  url? string
  reason? string
  metadata? meta
  requestState? secret
  inputKey? string
  resumeBinding? ResumeBinding
  ordinal? number
  token? secret
  expiresAt? string

union AgOutcome Outcome type
  case success SuccessOutcome
    result? any
  case error ErrorOutcome
    message string
    code? string
  case rejected RejectedOutcome
    reason? string
  case aborted AbortedOutcome
    reason? string
  case paused PausedOutcome
    asks []AgPausedAsk
    result? any

object AgCapabilities Capabilities
  streaming? StreamingCapability
  pushNotifications? bool
  securitySchemes? []AgAuthConfig
  extensions? []string
  uiCatalogs? []string
  profile? Profile

object StreamingCapability StreamingCapability
  partialMessages? bool

object SurfaceError SurfaceError
  code string
  message string
  path? string

# ── the folded result (§2, §5) ──

object AgMessage Message
  id string
  role Role
  content []AgBlock
  turnId? string
  threadId? string
  candidateIndex? number
  referenceTurnIds? []string
  messageMetadata? any
  extensions? []string
  metadata? meta
  agentId? string
  agentName? string
  agentRole? string
  model? string
  usage? AgUsage

object AgArtifact Artifact
  artifactId string
  turnId string
  threadId string
  name? string
  description? string
  parts []AgBlock
  extensions? []string
  _meta? meta

object AgMemoryRecord MemoryRecord
  scope MemoryScope
  key? string
  value any
  reason? string
  durable? bool
  turnId? string
  threadId? string

object HandoffRecord HandoffRecord
  kind? HandoffKind
  fromAgentId? string
  toAgentId? string
  toAgentName? string

object SourceRecord SourceRecord
  sourceId string
  source AgSourcePayload
  chunkIndex? number
  providerMetadata? bag

object PromptBlockedRecord PromptBlockedRecord
  reason BlockReason
  safety? []AgSafety

object DisplayRecord DisplayRecord
  provider string
  html string

object GuardrailRecord GuardrailRecord
  target GuardrailTarget
  passed bool
  action? GuardrailAction
  reason? string
  guardrailName? string
  safety? []AgSafety

object AgTurnRecord TurnRecord
  turnId string
  parentTurnId? string
  threadId string
  outcome? AgOutcome
  finishReason? FinishReason
  usage? AgUsage
  safety? []AgSafety
  handoffs? []HandoffRecord
  sourceIds? []string
  sources? []SourceRecord
  promptBlocked? PromptBlockedRecord
  asks? []AgPausedAsk
  taskState? string
  displayRequired? []DisplayRecord
  trigger? AgTrigger
  guardrails? []GuardrailRecord
  capabilities? AgCapabilities

object AgReduceResult ReduceResult
  messages []AgMessage
  artifacts []AgArtifact
  memory []AgMemoryRecord
  turns []AgTurnRecord
  state? any

# ── output events (§4) ──

union AgEvent Event type
  seq seq
  id? string
  turnId? string
  messageId? string
  parentId? string
  _meta? meta
  case turn.start TurnStart CORE need turnId
    threadId string
    trigger? AgTrigger
  case turn.done TurnDone CORE need turnId
    outcome AgOutcome
    finishReason FinishReason
    usage? AgUsage
    safety? []AgSafety
    messageMetadata? any
    taskState? string
  case turn.error TurnError CORE
    message string
    code? string
    retriable? bool
    usage? AgUsage
  case turn.abort TurnAbort CORE
    reason? string
  case error Error CORE
    code? string
    message string
    retriable? bool
  case message.start MessageStart CORE need id turnId
    role Role
    threadId string
    stepId? string
    extensions? []string
    candidateIndex? number
    agentId? string
    agentName? string
    agentRole? string
    model? string
  case message.end MessageEnd CORE need id
    usage? AgUsage
  case message.remove MessageRemove CORE need id
    check
  case step.start StepStart EXTENDED need id
    stepName? string
  case step.done StepDone EXTENDED need id
    stepName? string
    usage? AgUsage
  case prompt.blocked PromptBlocked ADVANCED
    reason BlockReason
    safety? []AgSafety
  case agent.capabilities AgentCapabilities ADVANCED
    capabilities AgCapabilities
  case messages.snapshot MessagesSnapshot CORE
    messages []AgMessage
    turns? []AgTurnRecord
    artifacts? []AgArtifact
    memory? []AgMemoryRecord
  case host.context HostContext ADVANCED
    theme? any
    capabilities? any
    container? any
  case text.start TextStart CORE need id
    role? =assistant
    index? number
    previousPartKind? string
    providerMetadata? bag
    candidateIndex? number
  case text.delta TextDelta CORE need id
    delta string
    providerMetadata? bag
  case text.end TextEnd CORE need id
    providerMetadata? bag
    citations? []AgCitation
  case reasoning.start ReasoningStart EXTENDED need id
    mode? ReasoningMode
    partIndex? number
    previousPartKind? string
    providerMetadata? bag
    itemId? string
    candidateIndex? number
  case reasoning.delta ReasoningDelta EXTENDED need id
    delta string
    partIndex? number
    providerMetadata? bag
  case reasoning.end ReasoningEnd EXTENDED need id
    provider? string
    providerMetadata? bag
  case reasoning.opaque ReasoningOpaque EXTENDED need id
    kind OpaqueKind
    value secret
    provider? string
    itemId? string
  case reasoning.opaque.delta ReasoningOpaqueDelta EXTENDED need id
    delta secret
  case tool.start ToolStart CORE
    toolCallId string
    name string
    index? number
    dynamic? bool
    serverName? string
    providerExecuted? bool
    requiresApproval? bool
    title? string
    toolMetadata? meta
    uiVisibility? []Visibility
    itemId? string
    providerMetadata? bag
    candidateIndex? number
    longRunning? bool
  case tool.args.delta ToolArgsDelta CORE
    toolCallId string
    delta string
  case tool.args.assembled ToolArgsAssembled CORE
    toolCallId string
    input any
    signature? secret
    title? string
    toolMetadata? meta
    providerMetadata? bag
  case tool.done ToolDone CORE
    toolCallId string
    content []AgBlock
    outcome? ToolOutcome
    structuredContent? any
    uiData? any
    sideData? any
    errorText? string
    errorCode? string
    providerMetadata? bag
    toolMetadata? meta
    dynamic? bool
    pendingInput? PendingInput
    isError? bool
    skipSummarization? bool
    more? bool
    preliminary? bool
    candidateIndex? number
  case content.block ContentBlock CORE
    block AgBlock
    transient? bool
    candidateIndex? number
  case message.metadata MessageMetadata ADVANCED
    metadata meta
  case source SourceEvent EXTENDED
    sourceId string
    source AgSourcePayload
    chunkIndex? number
    providerMetadata? bag
  case artifact.start ArtifactStart ADVANCED need turnId
    artifactId string
    threadId string
    name? string
    description? string
    extensions? []string
  case artifact.delta ArtifactDelta ADVANCED
    artifactId string
    part AgBlock
    append bool
  case artifact.end ArtifactEnd ADVANCED
    artifactId string
    lastChunk true
  case display.required DisplayRequired ADVANCED
    provider string
    html string
  case subagent.start SubagentStart EXTENDED need turnId
    parentTurnId string
    agentId? string
    agentName? string
  case subagent.done SubagentDone EXTENDED need turnId
    parentTurnId string
  case handoff Handoff EXTENDED
    kind? HandoffKind
    fromAgentId? string
    toAgentId? string
    toAgentName? string
  case hitl.ask HitlAsk EXTENDED
    askId string
    kind AskKind
    message? string
    schema? any
    choices? []AgChoice
    authConfig? AgAuthConfig
    url? string
    toolCallId? string
    continuation? Continuation
    reason? string
    metadata? meta
    requestState? secret
    inputKey? string
    resumeBinding? ResumeBinding
    ordinal? number
    token? secret
    expiresAt? string
  case ui.call UICall ADVANCED
    surfaceId string
    callId string
    method string
    args? any
    wantResponse? bool
    callableFrom? CallableFrom
  case ui.result UIResult ADVANCED
    surfaceId string
    callId string
    method? string
    value? any
    error? SurfaceError
  case ui.action-result UIActionResult ADVANCED
    surfaceId string
    actionId string
    value? any
    error? SurfaceError
  case ui.widget.result UIWidgetResult ADVANCED
    surfaceId string
    callId string
    result string
  case ui.display-mode UIDisplayMode ADVANCED
    mode DisplayMode
    granted? DisplayMode
    surfaceId? string
    toolCallId? string
  case ui.surface.start UISurfaceStart ADVANCED
    surfaceId string
    catalogId string
    surfaceProperties? any
    sendDataModel? bool
    components? any
    dataModel? any
    toolCallId? string
  case ui.surface.update UISurfaceUpdate ADVANCED
    surfaceId string
    components any
  case ui.surface.end UISurfaceEnd ADVANCED
    surfaceId string
  case ui.data-model UIDataModel ADVANCED
    surfaceId string
    path? string
    value? any
  case state.snapshot StateSnapshot ADVANCED
    snapshot any
  case state.delta StateDelta ADVANCED
    patch any
  case memory.write MemoryWrite EXTENDED
    scope MemoryScope
    key? string
    value? any
    patch? any
    reason? string
    durable? bool
    check
  case guardrail.result GuardrailResult EXTENDED
    target GuardrailTarget
    passed bool
    action? GuardrailAction
    reason? string
    guardrailName? string
    safety? []AgSafety
`;
