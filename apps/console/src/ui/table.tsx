import type { CSSProperties, ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { Skeleton } from './states.tsx';
import styles from './table.module.css';

export interface Column<Row> {
  id: string;
  header: string;
  /** Hides the header visually, for columns of buttons. */
  headerHidden?: boolean;
  cell: (row: Row) => ReactNode;
  align?: 'start' | 'end';
  /** CSS width; the column without one takes the remaining space. */
  width?: string;
  /** Width on narrow screens, if different. */
  narrowWidth?: string;
  /** Hidden on narrow screens; the first column then contains the essentials. */
  wideOnly?: boolean;
}

export interface TableProps<Row> {
  /** What the table lists, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  /** Undefined while loading: shows skeletons in the final height. */
  rows: readonly Row[] | undefined;
  rowKey: (row: Row) => string;
  /** Shown instead of the body if there are no rows. */
  empty: ReactNode;
  skeletonRows?: number;
}

export function Table<Row>({ caption, columns, rows, rowKey, empty, skeletonRows = 4 }: TableProps<Row>) {
  if (rows !== undefined && rows.length === 0) return <div className={styles['frame']}>{empty}</div>;
  return (
    <div className={styles['frame']}>
      <table className={styles['table']} aria-busy={rows === undefined}>
        <caption className="visually-hidden">{caption}</caption>
        <colgroup>
          {columns.map((column) => (
            <col key={column.id} className={classNames(styles['column'], cellClass(column))} style={widthsOf(column)} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={cellClass(column)}>
                <span className={column.headerHidden === true ? 'visually-hidden' : undefined}>{column.header}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.id} className={cellClass(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          )) ?? <SkeletonRows columns={columns} count={skeletonRows} />}
        </tbody>
      </table>
    </div>
  );
}

function SkeletonRows<Row>({ columns, count }: { columns: readonly Column<Row>[]; count: number }) {
  return Array.from({ length: count }, (_, index) => (
    <tr key={index}>
      {columns.map((column, position) => (
        <td key={column.id} className={cellClass(column)}>
          {column.headerHidden !== true && <Skeleton width={`${72 - ((index * 17 + position * 29) % 38)}%`} />}
        </td>
      ))}
    </tr>
  ));
}

function widthsOf<Row>({ width = 'auto', narrowWidth = width }: Column<Row>): CSSProperties {
  // React's type does not include custom properties.
  return { '--width': width, '--narrow-width': narrowWidth } as CSSProperties;
}

function cellClass<Row>(column: Column<Row>): string {
  return classNames(column.align === 'end' && styles['end'], column.wideOnly === true && styles['wideOnly']);
}
