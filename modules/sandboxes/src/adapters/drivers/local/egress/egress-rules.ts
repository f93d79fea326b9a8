import { createHash } from 'node:crypto';
import { sandboxErrors } from '../../../../errors.ts';

/**
 * On packets to our resolver from a sandbox that may ask it. Marks do not pass from one network namespace into another, so
 * no sandbox can set it.
 */
export const QUESTION_MARK = '0x73766371';
/** Stands for the interface where the launcher knows it and nobody else does yet. */
const INTERFACE = '{{interface}}';

/** The first of the addresses that sandboxes get; see addressOf in the launcher. */
const FIRST_HOST = 16;

/** Interface and address of the sandbox that the launcher has given this number. */
export function linkOf(addressPrefix: string, slot: unknown): { interfaceName: string; address: string } {
  if (typeof slot !== 'number') throw sandboxErrors.RUNTIME_FAILED({ details: { reason: 'it has no network' } });
  const host = FIRST_HOST + slot;
  return { interfaceName: `svcsb${slot}`, address: `${addressPrefix}.${host >> 8}.${host & 0xff}` };
}

function tableOf(interfaceName: string): string {
  return `svc_egress_${interfaceName}`;
}

/** A mark of its own for each sandbox: a connection that another one made from the same address before is not its. */
function markOf(sandboxId: string): string {
  return `0x${((createHash('sha256').update(sandboxId).digest().readUInt32BE(0) | 1) >>> 0).toString(16)}`;
}

/**
 * The table of one sandbox, loaded before its first process runs: nothing leaves but to addresses that were opened, and
 * none is. It only ever takes away from what the table of all sandboxes lets through. The launcher deletes it with the
 * network of the sandbox.
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
    // What was begun while its address was open goes on.
    `    iifname "${INTERFACE}" ct mark ${mark} accept`,
    `    iifname "${INTERFACE}" ip daddr @allowed ct mark set ${mark} accept`,
    `    iifname "${INTERFACE}" reject with icmp type admin-prohibited`,
    '  }',
    '}',
    '',
  ].join('\n');
}

/** Leads what the sandbox asks of the resolvers that it may know to ours, and nothing else. */
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

/** In one transaction, whether or not they were open already: a timeout can only be set by adding anew. */
export function openingRules(interfaceName: string, addresses: readonly string[], seconds: number): string {
  const element = `element inet ${tableOf(interfaceName)} allowed`;
  const list = addresses.join(', ');
  const timed = addresses.map((address) => `${address} timeout ${seconds}s`).join(', ');
  return `add ${element} { ${list} }\ndelete ${element} { ${list} }\nadd ${element} { ${timed} }\n`;
}
