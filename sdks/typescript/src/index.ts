export { AccountsClient, type AuditQuery } from './accounts.ts';
export type {
  AcceptedInvitation,
  ApiToken,
  AuditEntry,
  AuditOutcome,
  Caller,
  CreatedApiToken,
  CreatedInvitation,
  Invitation,
  Member,
  NewAccount,
  Page,
  ServiceAccountScope,
  SignIn,
  Team,
  TeamRole,
  User,
  Workspace,
} from './accounts-types.ts';
export { createClient, type SvcClient } from './client.ts';
export {
  ApiError,
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  ServerError,
  SvcError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedAnswerError,
  type ApiErrorFields,
} from './errors.ts';
export {
  PlatformClient,
  type ClustersState,
  type ObjectStoreState,
  type PlatformStatus,
  type SandboxesState,
  type ServiceState,
  type WorkspaceScope,
} from './platform.ts';
export { Transport, type CallOptions, type CallRequest, type Credential, type TransportOptions } from './transport.ts';
export type { PageQuery } from './pages.ts';
export { TeamsClient } from './teams.ts';
export { WorkspacesClient, type WorkspaceRef } from './workspaces.ts';
