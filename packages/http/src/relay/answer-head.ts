import { listMembers, type HeaderList } from './relay-headers.ts';

/** Status line and headers of a response (RFC 9112, sections 4 and 5), and the framing of its body (section 6). */
export interface AnswerHead {
  status: number;
  reason: string;
  headers: HeaderList;
  /** Value of `Connection`, lower case; empty if absent. */
  connection: string;
  isHttp11: boolean;
  /** `null` = chunked; a number = length in bytes; `end` = until the connection closes. */
  length: number | null | 'end';
  /** Size of the head, empty line included. */
  sizeBytes: number;
}

/** The server does not speak HTTP/1.1, or its response is ambiguous. */
export class MalformedAnswer extends Error {
  constructor(reason: string) {
    super(`the answer is not HTTP/1.1: ${reason}`);
    this.name = 'MalformedAnswer';
  }
}

/** Maximum size of a response head in bytes. A longer one is a `MalformedAnswer`. */
export const MAX_HEAD_BYTES = 64 * 1024;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const MAX_HEADERS = 2000;

/** Parses a response head; null if incomplete. Throws `MalformedAnswer`. */
export function readAnswerHead(bytes: Buffer, method: string): AnswerHead | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1 || end > MAX_HEAD_BYTES) {
    if (bytes.length > MAX_HEAD_BYTES) throw new MalformedAnswer('its headers are too long');
    return null;
  }
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = STATUS_LINE.exec(statusLine);
  if (status === null) throw new MalformedAnswer('its first line is no status line');
  if (lines.length > MAX_HEADERS) throw new MalformedAnswer('it has too many headers');
  const head: AnswerHead = {
    status: Number(status[2]),
    reason: status[3] ?? '',
    headers: [],
    connection: '',
    isHttp11: status[1] === '1',
    length: 'end',
    sizeBytes: end + 4,
  };
  const framing = readHeaders(lines, head);
  head.length = bodyLength(head, framing, method);
  return head;
}

interface Framing {
  lengths: string[];
  codings: string[];
}

function readHeaders(lines: readonly string[], head: AnswerHead): Framing {
  const framing: Framing = { lengths: [], codings: [] };
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    const value = line.slice(colon + 1).trim();
    // A line that begins with a space (obs-fold) is obsolete, and parsers disagree about it.
    if (!NAME.test(name) || !VALUE.test(value)) throw new MalformedAnswer('a header line is malformed');
    head.headers.push(name, value);
    switch (name.toLowerCase()) {
      case 'connection':
        head.connection = head.connection === '' ? value.toLowerCase() : `${head.connection}, ${value.toLowerCase()}`;
        break;
      case 'content-length':
        framing.lengths.push(...listMembers(value));
        break;
      case 'transfer-encoding':
        framing.codings.push(...listMembers(value.toLowerCase()));
        break;
      default:
    }
  }
  return framing;
}

/**
 * Determines the body's framing in the order of RFC 9112, section 6.3. Refuses ambiguous framing, which enables
 * response smuggling.
 */
function bodyLength({ status }: AnswerHead, { lengths, codings }: Framing, method: string): AnswerHead['length'] {
  if (codings.length > 0 && lengths.length > 0) throw new MalformedAnswer('it has two lengths');
  const [first, ...others] = lengths;
  if (first !== undefined && (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first))) {
    throw new MalformedAnswer('its Content-Length is not one number');
  }
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return 0;
  if (codings.length > 0) {
    if (codings.length > 1 || codings[0] !== 'chunked')
      throw new MalformedAnswer('its Transfer-Encoding is not chunked');
    return null;
  }
  return first === undefined ? 'end' : Number(first);
}
