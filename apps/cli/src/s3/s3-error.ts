import { childText, parseXml } from './xml.ts';

/** An error response of the S3 plane. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(fields: { status: number; code: string; message: string; requestId: string | null }) {
    super(fields.message);
    this.name = 'S3Error';
    this.status = fields.status;
    this.code = fields.code;
    this.requestId = fields.requestId;
  }

  /** Whether the same request may succeed later. */
  get isPassing(): boolean {
    return this.status === 500 || this.status === 503 || this.status === 429 || this.code === 'RequestTimeout';
  }
}

/** Responses to HEAD have no body, so derive the error from the status. */
const CODES_OF_STATUS: ReadonlyMap<number, readonly [string, string]> = new Map([
  [304, ['NotModified', 'Not modified']],
  [403, ['AccessDenied', 'Access Denied']],
  [404, ['NoSuchKey', 'Object not found']],
  [412, ['PreconditionFailed', 'Precondition failed: the object has changed']],
]);

export function parseS3Error(status: number, requestId: string | null, text: string): S3Error {
  const [fallbackCode, fallbackMessage] = CODES_OF_STATUS.get(status) ?? [
    `HTTP_${status}`,
    `The S3 API returned ${status}`,
  ];
  try {
    const root = parseXml(text);
    const code = childText(root, 'Code') ?? fallbackCode;
    return new S3Error({ status, code, message: childText(root, 'Message') ?? fallbackMessage, requestId });
  } catch {
    return new S3Error({ status, code: fallbackCode, message: fallbackMessage, requestId });
  }
}
