import { Link, type LinkProps } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { classNames } from './class-names.ts';
import styles from './tab-links.module.css';

export interface TabLink {
  label: string;
  link: Pick<LinkProps, 'to' | 'params' | 'search'>;
  current: boolean;
  count?: number | undefined;
}

/** A row of related pages, as links, since each has its own URL. */
export function TabLinks({ label, tabs }: { label: string; tabs: readonly TabLink[] }) {
  const row = useRef<HTMLElement>(null);
  const current = tabs.find((tab) => tab.current)?.label;
  // On narrow screens the row scrolls; keep the current page visible.
  useEffect(() => {
    row.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <nav ref={row} aria-label={label} className={styles['tabs']}>
      {tabs.map((tab) => (
        <Link
          key={tab.label}
          {...tab.link}
          resetScroll={false}
          // Otherwise the first tab, whose path is a prefix of all others, would also be current.
          activeOptions={{ exact: true, includeSearch: false }}
          className={classNames(styles['tab'], tab.current && styles['current'])}
          aria-current={tab.current ? 'page' : undefined}
        >
          {tab.label}
          {tab.count !== undefined && <span className={styles['count']}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}
