import type { AppError } from '@svc/errors';

/** Renders an error as the body that a route family promises. Never changes the status. */
export type ErrorRenderer = (error: AppError, requestId: string) => unknown;

/** Sandboxes and accounts: `error` is a string, as existing clients expect. */
export const renderFlatError: ErrorRenderer = (error, requestId) => ({
  error: error.message,
  code: error.code,
  message: error.message,
  status: error.status,
  request_id: requestId,
  details: error.details,
});

/**
 * Clusters and the agent: `{"error":{"code","message","details":{"field","reason"}}}`. A refusal that concerns no
 * single field, such as a missing right, uses the field `request`, so clients always find both.
 */
export const renderNestedError: ErrorRenderer = ({ code, message, details }) => ({
  // Every code of this contract is upper case, including shared ones.
  error: { code: code.toUpperCase(), message, details: { field: 'request', reason: message, ...details } },
});

/**
 * Object store names for errors that every route can return. Other codes are converted to PascalCase:
 * `CSRF_TOKEN_INVALID` becomes `CsrfTokenInvalid`.
 */
const ENVELOPE_CODES: Readonly<Record<string, string>> = {
  FORBIDDEN: 'AccessDenied',
  PAYLOAD_TOO_LARGE: 'EntityTooLarge',
  SHUTTING_DOWN: 'ProviderUnavailable',
  TOO_MANY_REQUESTS: 'SlowDown',
  internal_error: 'InternalError',
};

function envelopeCodeOf(code: string): string {
  const known = Object.hasOwn(ENVELOPE_CODES, code) ? ENVELOPE_CODES[code] : undefined;
  if (known !== undefined || !/^[A-Z]+(_[A-Z]+)*$/.test(code)) return known ?? code;
  return code
    .split('_')
    .map((word) => `${word.charAt(0)}${word.slice(1).toLowerCase()}`)
    .join('');
}

/** Object store management: the envelope of its contract. */
export const renderEnvelopeError: ErrorRenderer = (error, requestId) => {
  const { resource, issues, field, reason, ...rest } = error.details;
  const details = issues ?? (field === undefined ? [] : [{ field, issue: reason ?? error.message }]);
  return {
    success: false,
    message: error.message,
    // Envelope fields come last, so that a detail of the same name never replaces them.
    data: { ...rest, code: envelopeCodeOf(error.code), request_id: requestId, resource: resource ?? null, details },
  };
};

/** OCI error codes for errors with different names here. */
const REGISTRY_CODES: Readonly<Record<string, string>> = {
  REPOSITORY_NOT_FOUND: 'NAME_UNKNOWN',
  NOT_FOUND: 'NAME_UNKNOWN',
  IMAGE_NOT_FOUND: 'MANIFEST_UNKNOWN',
  BLOB_NOT_FOUND: 'BLOB_UNKNOWN',
  INVALID_RANGE: 'SIZE_INVALID',
  METHOD_NOT_ALLOWED: 'UNSUPPORTED',
  TOO_MANY_DOWNLOADS: 'TOOMANYREQUESTS',
  IMAGES_BUSY: 'TOOMANYREQUESTS',
  PULL_CREDENTIAL_INVALID: 'UNAUTHORIZED',
};

/** OCI image registry (distribution-spec 1.1, "Error Codes"); clients show `message`. */
export const renderRegistryError: ErrorRenderer = ({ code, message, details }) => ({
  errors: [{ code: Object.hasOwn(REGISTRY_CODES, code) ? REGISTRY_CODES[code] : code, message, detail: details }],
});

/** E2B clients: `code` is the HTTP status. */
export const renderE2bError: ErrorRenderer = ({ status, message }) => ({ code: status, message });

const text = { type: 'string' };
const object = (properties: Record<string, unknown>, description: string): Record<string, unknown> => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties),
});
const details = {
  type: 'object',
  description: '`field`, `reason` and any further details of the code',
  additionalProperties: true,
};

/** The same shapes as JSON Schema, with their OpenAPI names. */
export const ERROR_SHAPES: readonly { render: ErrorRenderer; name: string; schema: Record<string, unknown> }[] = [
  {
    render: renderFlatError,
    name: 'FlatError',
    schema: object(
      { error: text, code: text, message: text, status: { type: 'integer' }, request_id: text, details },
      'Error format of accounts and sandboxes; `error` has the same text as `message`.',
    ),
  },
  {
    render: renderNestedError,
    name: 'NestedError',
    schema: object(
      { error: object({ code: text, message: text, details }, 'The error.') },
      'Error format of clusters and the agent.',
    ),
  },
  {
    render: renderRegistryError,
    name: 'RegistryError',
    schema: object(
      {
        errors: { type: 'array', items: object({ code: text, message: text, detail: details }, 'The error.') },
      },
      'Error format of the registry that serves images to nodes.',
    ),
  },
  {
    render: renderEnvelopeError,
    name: 'EnvelopeError',
    schema: object(
      {
        success: { const: false },
        message: text,
        data: object(
          {
            code: text,
            request_id: text,
            resource: { type: ['string', 'null'] },
            details: { type: 'array', items: object({ field: text, issue: text }, 'An invalid field.') },
          },
          'The stable code and the invalid fields.',
        ),
      },
      'Error format of the object store management API.',
    ),
  },
];
