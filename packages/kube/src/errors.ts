import { AppError, defineErrors } from '@svc/errors';

/** Errors of the Kubernetes client itself. */
export const kubeErrors = defineErrors({
  KUBECONFIG_INVALID: [500, 'The kubeconfig cannot be used: {reason}'],
  NOT_IN_CLUSTER: [500, 'This process does not run in a Kubernetes pod: {reason}'],
  KUBERNETES_UNREACHABLE: [503, 'The Kubernetes API did not answer: {reason}'],
  KUBERNETES_ANSWER_INVALID: [502, 'Unexpected response from the Kubernetes API: {reason}'],
  UNKNOWN_KIND: [404, 'The cluster does not know {api_version} {kind}'],
  INVALID_NAME: [400, 'Invalid object name: {name}'],
  EXEC_TIMEOUT: [504, 'The API server did not start the command within {timeout_ms} ms'],
  WATCH_IDLE: [504, 'The watch was silent for {idle_ms} ms'],
});

/** A reason in a refusal; `field` is a path such as `.spec.replicas`, `message` names the manager in a conflict. */
export interface StatusCause {
  reason: string;
  message: string;
  field: string;
}

/** Contents of a `KubernetesStatusError`. */
export interface KubernetesStatusOptions {
  status: number;
  reason: string;
  message: string;
  causes?: readonly StatusCause[];
  retryAfterSeconds?: number | null;
  continueToken?: string | null;
}

/** A refusal of the API server: its `Status` object as an error. `code` is the Kubernetes reason in capitals. */
export class KubernetesStatusError extends AppError {
  /** `NotFound`, `Conflict`, `Forbidden`, `Invalid`, `Expired` and so on; empty if the server sent none. */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | null;
  /** With a 410 in the middle of a list: the token for continuing it inconsistently. */
  readonly continueToken: string | null;

  constructor(options: KubernetesStatusOptions) {
    const { status, reason, message } = options;
    const retryable = status >= 500 || status === 429;
    super({ code: codeOf(status, reason), status, message, details: { reason }, retryable });
    this.name = 'KubernetesStatusError';
    this.reason = reason;
    this.causes = options.causes ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.continueToken = options.continueToken ?? null;
  }
}

/** Whether the error is a refusal of the API server, optionally with this HTTP status. */
export function isStatusError(error: unknown, status?: number): error is KubernetesStatusError {
  return error instanceof KubernetesStatusError && (status === undefined || error.status === status);
}

function codeOf(status: number, reason: string): string {
  if (reason === '') return `KUBERNETES_${status}`;
  return reason.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
