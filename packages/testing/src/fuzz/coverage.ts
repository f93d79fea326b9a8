import { Session, type Profiler } from 'node:inspector';

/**
 * Records which blocks of our own code ran. Without counts, which would prevent optimization and run at a tenth of the
 * speed.
 */
export interface Coverage {
  /** Whether code ran since the last call that is not marked as seen. */
  reachedNew(): boolean;
  /** Like `reachedNew`, and marks it as seen. */
  markNew(): boolean;
  stop(): void;
}

/** Starts V8's precise block coverage for scripts whose URL the filter accepts. */
export function startCoverage(isOwn: (url: string) => boolean): Coverage {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  const seen = new Map<string, Uint8Array>();
  return {
    reachedNew: () => take(session, isOwn).some((each) => isNew(each, seen.get(each.key))),
    markNew: () => {
      const reached = take(session, isOwn).filter((each) => isNew(each, seen.get(each.key)));
      for (const { key, ran } of reached) {
        const before = seen.get(key);
        seen.set(key, before === undefined ? ran : ran.map((byte, at) => byte | (before[at] ?? 0)));
      }
      return reached.length > 0;
    },
    stop: () => session.disconnect(),
  };
}

/** A function that ran, and for each character of it, whether that ran: 1 or 0. */
interface Reached {
  readonly key: string;
  readonly ran: Uint8Array;
}

function isNew({ ran }: Reached, before: Uint8Array | undefined): boolean {
  return before === undefined || ran.some((byte, at) => byte > (before[at] ?? 0));
}

/** The callback of a same-thread session runs before `post` returns. */
function take(session: Session, isOwn: (url: string) => boolean): Reached[] {
  let scripts: readonly Profiler.ScriptCoverage[] = [];
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error;
    scripts = result;
  });
  return scripts
    .filter(({ url }) => isOwn(url))
    .flatMap(({ url, functions }) => functions.map((each) => reachedIn(url, each)));
}

/** The first range is the whole function. Each of the others is a block in an earlier one whose state differs. */
function reachedIn(url: string, { ranges }: Profiler.FunctionCoverage): Reached {
  const { startOffset: from = 0, endOffset: to = 0 } = ranges[0] ?? {};
  const ran = new Uint8Array(to - from);
  for (const { startOffset, endOffset, count } of ranges) {
    ran.fill(count > 0 ? 1 : 0, startOffset - from, endOffset - from);
  }
  return { key: `${url}:${from}:${to}`, ran };
}
