/* SPDX-License-Identifier: MIT */
/*
 * What commands say of a fleet: sums over ranks, and how ranks differ.  However
 * many ranks there are, people read a page.
 */
#pragma once

#include "store/db.h"
#include "show/doc.h"

int pf_fleet_info(struct pf_db *db, struct pf_doc *doc);
int pf_fleet_steps(struct pf_db *db, struct pf_doc *doc);
int pf_fleet_kernels(struct pf_db *db, struct pf_doc *doc);
int pf_fleet_overlap(struct pf_db *db, struct pf_doc *doc);
int pf_fleet_table(struct pf_db *db, struct pf_doc *doc);
int pf_fleet_gaps(struct pf_db *db, struct pf_doc *doc);
int pf_fleet_doctor(struct pf_db *db, struct pf_doc *doc);
int pf_fleet_summary(struct pf_db *db, struct pf_doc *doc);
