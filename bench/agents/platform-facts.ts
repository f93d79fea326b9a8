import { readFile } from 'node:fs/promises';

export interface PlatformFacts {
  residentBytes: number;
  /** Since its start. */
  processorSeconds: number;
  /** How late its event loop was since the last look, 99 of 100 times at most, milliseconds. */
  loopDelayP99Ms: number;
  loopDelayMaxMs: number;
}

/** Each of the histogram's values counts the pause between two of its looks as well. */
const LOOK_EVERY_MS = 50;

/** What the process says of itself at `/metrics`; each look begins the next interval of the event loop's delay. */
export async function platformFacts({
  url,
  token,
  pid,
}: {
  url: string;
  /** Metrics are for the operator alone. */
  token: string;
  pid: number;
}): Promise<PlatformFacts> {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  const value = (name: string): number => {
    const found = new RegExp(`^\\w*${name} (\\S+)$`, 'm').exec(text)?.[1];
    if (found === undefined) throw new Error(`the platform has no metric ${name}`);
    return Number(found);
  };
  const loopDelayMs = (which: string): number => value(`nodejs_eventloop_lag_${which}_seconds`) * 1000 - LOOK_EVERY_MS;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    residentBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024,
    processorSeconds: value('process_cpu_seconds_total'),
    loopDelayP99Ms: loopDelayMs('p99'),
    loopDelayMaxMs: loopDelayMs('max'),
  };
}

/** What the kernel holds in the buffers of all TCP sockets of the machine. */
export async function socketBufferBytes(): Promise<number> {
  const pages = Number(/^TCP:.* mem (\d+)/m.exec(await readFile('/proc/net/sockstat', 'utf8'))?.[1]);
  return pages * 4096;
}
