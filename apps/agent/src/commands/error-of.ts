import { isAppError } from '@svc/errors';
import { isStatusError } from '@svc/kube';
import type { MessageError } from '@svc/protocol';

const MAX_MESSAGE_CHARACTERS = 4000;

/** Converts any failure to the `error` of a message. Kubernetes errors keep their status and reason. */
export function toMessageError(error: unknown, field?: string): MessageError {
  if (isStatusError(error)) {
    return {
      code: codeOfStatus(error.status),
      message: shorten(error.message),
      details: {
        ...(field === undefined ? {} : { field }),
        reason: error.reason === '' ? `HTTP ${error.status}` : error.reason,
        kubernetes_status: error.status,
      },
    };
  }
  if (isAppError(error)) {
    const details = field === undefined ? error.details : { field, ...error.details };
    return { code: error.code, message: shorten(error.message), details };
  }
  return { code: 'INTERNAL', message: 'The agent failed; its log says more' };
}

function codeOfStatus(status: number): string {
  switch (status) {
    case 400:
    case 422:
      return 'INVALID_REQUEST';
    case 401:
    case 403:
      return 'FORBIDDEN';
    case 404:
      return 'NOT_FOUND';
    case 409:
      return 'CONFLICT';
    case 429:
      return 'RATE_LIMITED';
    default:
      return 'KUBERNETES_ERROR';
  }
}

function shorten(text: string): string {
  return text.length > MAX_MESSAGE_CHARACTERS ? `${text.slice(0, MAX_MESSAGE_CHARACTERS)}…` : text;
}
