//! An order, inventory and payment system that keeps its promises while its parts fail.
//!
//! Each service is a module with the same rooms: `domain` (what there is), `store` (its tables),
//! `…_client` (a service it calls, and what protects the call), `service` (what happens), `http`
//! (how it is asked) and `errors` (what can go wrong, and how the client sees it). The protections
//! are declared in `resilience.yaml`; the attributes name them.

pub mod access;
pub mod account;
pub mod assembly;
pub mod database;
pub mod demo;
pub mod faults;
pub mod inventory;
pub mod mail;
pub mod management;
pub mod order;
pub mod order_process;
pub mod payment;
pub mod peer;
pub mod pg;
pub mod process;
pub mod redis_server;
pub mod settings;
pub mod sweeper;
pub mod system;
pub mod web;
