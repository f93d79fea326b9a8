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
