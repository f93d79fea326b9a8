import { KubernetesStatusError, isStatusError, type KubeObject } from '@svc/kube';
import type { MessageError, ResourceResult } from '@svc/protocol';
import { toMessageError } from '../commands/error-of.ts';

/** One object's entry in a deploy result. */
export function resourceResult(
  object: KubeObject,
  outcome: Pick<ResourceResult, 'action' | 'health'> & Partial<ResourceResult>,
): ResourceResult {
  const { uid } = object.metadata;
  return {
    api_version: object.apiVersion,
    kind: object.kind,
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name,
    ...(uid === undefined ? {} : { uid }),
    ...outcome,
  };
}

export function failedResource(object: KubeObject, error: unknown, field: string): ResourceResult {
  const reported = applyError(error, field, `${object.kind}/${object.metadata.name}`);
  return resourceResult(object, { action: 'failed', health: 'unknown', message: reported.message, error: reported });
}

/** Error of a refused apply: a conflict names the fields and their owners; otherwise the server's message. */
export function applyError(error: unknown, field: string, resource: string): MessageError {
  if (!isStatusError(error)) return toMessageError(error, field);
  const conflicts = error.causes
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map((cause) => ({ field: cause.field, manager: managerIn(cause.message) }));
  const [first] = conflicts;
  if (first === undefined) return toMessageError(readable(error), field);
  return {
    code: 'CONFLICT',
    message: `${resource}: ${first.field} is owned by ${first.manager}`,
    details: {
      field: first.field,
      reason: `owned by ${first.manager}`,
      manager: first.manager,
      resource,
      conflicts: conflicts.slice(0, 50),
    },
  };
}

/** `conflict with "kubectl" using apps/v1` or `conflict with "kubectl" with subresource "scale" …`. */
function managerIn(message: string): string {
  return /"((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? message.slice(0, 200);
}

const MAX_CAUSE_CHARACTERS = 300;

/** Rewrites the API server's error so that the reader can see what to change. */
function readable(error: KubernetesStatusError): KubernetesStatusError {
  const { status, reason, message, causes } = error;
  // On a server-side apply, it reports a field missing from its schema as an internal error (500).
  if (status === 500 && message.includes('failed to create typed patch object')) {
    return new KubernetesStatusError({ status: 422, reason: 'Invalid', message, causes });
  }
  const [first] = causes;
  if (first === undefined || causes.every((cause) => cause.message.length <= MAX_CAUSE_CHARACTERS)) return error;
  // It repeats the rejected value, such as a whole pod template with its environment.
  const whose = message.slice(0, Math.max(0, message.indexOf(first.field)));
  const told = causes.map((cause) => `${cause.field}: ${withoutLongValue(cause.message)}`).join(', ');
  return new KubernetesStatusError({ status, reason, message: whose + told, causes });
}

/** `Invalid value: {…}: field is immutable` -> `field is immutable`. */
function withoutLongValue(message: string): string {
  return message.length <= MAX_CAUSE_CHARACTERS ? message : message.slice(message.lastIndexOf(': ') + 2);
}
