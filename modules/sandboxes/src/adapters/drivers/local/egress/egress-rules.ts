import { createHash } from 'node:crypto';
import { sandboxErrors } from '../../../../errors.ts';

/**
 * Mark on packets to our resolver from a sandbox that may query it. Marks do not cross network namespaces, so a sandbox
 * cannot set it.
 */
export const QUESTION_MARK = '0x73766371';
/** Placeholder for the interface, which only the launcher knows at this point. */
const INTERFACE = '{{interface}}';

/** First host number for sandboxes; see addressOf in the launcher. */
const FIRST_HOST = 16;

/** Interface and address for a slot number assigned by the launcher. */
export function linkOf(addressPrefix: string, slot: unknown): { interfaceName: string; address: string } {
  if (typeof slot !== 'number') throw sandboxErrors.RUNTIME_FAILED({ details: { reason: 'it has no network' } });
  const host = FIRST_HOST + slot;
  return { interfaceName: `svcsb${slot}`, address: `${addressPrefix}.${host >> 8}.${host & 0xff}` };
}

function tableOf(interfaceName: string): string {
  return `svc_egress_${interfaceName}`;
}

/** A distinct mark per sandbox, so that a connection of a previous sandbox with the same address does not match. */
function markOf(sandboxId: string): string {
  return `0x${((createHash('sha256').update(sandboxId).digest().readUInt32BE(0) | 1) >>> 0).toString(16)}`;
}

/**
 * The firewall table of one sandbox, loaded before its first process runs. Only opened addresses can be reached, and
 * none is open at first. It only restricts further what the table of all sandboxes allows. The launcher deletes it with
 * the sandbox's network.
 */
export function closedRules(sandboxId: string): string {
  const table = tableOf(INTERFACE);
  const mark = markOf(sandboxId);
  return [
    `table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    '  set allowed {',
    '    type ipv4_addr',
    '    flags timeout',
    '    size 4096',
    '  }',
    '  chain mark_questions {',
    '    type filter hook prerouting priority mangle; policy accept;',
    '  }',
    '  chain redirect_questions {',
    '    type nat hook prerouting priority dstnat; policy accept;',
    '  }',
    '  chain leaving {',
    '    type filter hook forward priority filter - 6; policy accept;',
    `    iifname "${INTERFACE}" meta nfproto ipv6 drop`,
    // Connections opened while the address was allowed continue.
    `    iifname "${INTERFACE}" ct mark ${mark} accept`,
    `    iifname "${INTERFACE}" ip daddr @allowed ct mark set ${mark} accept`,
    `    iifname "${INTERFACE}" reject with icmp type admin-prohibited`,
    '  }',
    '}',
    '',
  ].join('\n');
}

/** Redirects the sandbox's queries to its configured resolvers to ours, and nothing else. */
export function questionRules(sandbox: {
  readonly interfaceName: string;
  readonly address: string;
  readonly resolvers: readonly string[];
  readonly port: number;
}): string {
  const { interfaceName, address, resolvers, port } = sandbox;
  const table = tableOf(interfaceName);
  const to = resolvers.filter((each) => /^\d+(\.\d+){3}$/.test(each)).join(', ');
  const rules = ['udp', 'tcp'].flatMap((protocol) => {
    const from = `iifname "${interfaceName}" ip saddr ${address} ip daddr { ${to} } ${protocol} dport 53`;
    return [
      `add rule inet ${table} mark_questions ${from} meta mark set ${QUESTION_MARK}`,
      `add rule inet ${table} redirect_questions ${from} redirect to :${port}`,
    ];
  });
  return [
    `flush chain inet ${table} mark_questions`,
    `flush chain inet ${table} redirect_questions`,
    ...rules,
    '',
  ].join('\n');
}

/** One transaction, whether or not the addresses are open: a timeout can only be set by adding the element again. */
export function openingRules(interfaceName: string, addresses: readonly string[], seconds: number): string {
  const element = `element inet ${tableOf(interfaceName)} allowed`;
  const list = addresses.join(', ');
  const timed = addresses.map((address) => `${address} timeout ${seconds}s`).join(', ');
  return `add ${element} { ${list} }\ndelete ${element} { ${list} }\nadd ${element} { ${timed} }\n`;
}
